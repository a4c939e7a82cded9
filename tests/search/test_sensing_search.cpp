// Copies that sense: thresholds from readings, what a probe collects, and a race on made-up
// machines that only a real lead wins.
#include "search/sensing_search.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

#include "support/known_machine.hpp"
#include "support/made_up_variants.hpp"

using namespace asterope;

namespace {

/// from, from + 1, ... up to `to`, in an order that is not sorted.
std::vector<double> scattered(int from, int to) {
    std::vector<double> values(static_cast<std::size_t>(to - from + 1));
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) {
        // 97 is prime to all counts used here: every value once
        values[i * 97 % count] = from + static_cast<double>(i);
    }
    return values;
}

} // namespace

// --- The threshold -------------------------------------------------------------------------------

TEST(FindThreshold, is_midway_by_ratio_between_the_90th_percentile_and_the_10th) {
    const auto found = find_threshold({scattered(1, 101), scattered(301, 401)});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cached_ticks, 91);
    EXPECT_EQ(found->uncached_ticks, 311);
    EXPECT_EQ(found->ticks, 168u); // sqrt(91 * 311) = 168.2
    const auto few = find_threshold({scattered(1, 30), scattered(301, 330)});
    ASSERT_TRUE(few);
    EXPECT_EQ(few->cached_ticks, 27); // by nearest rank
    EXPECT_EQ(few->uncached_ticks, 303);
}

TEST(FindThreshold, bears_a_tenth_of_wild_readings_on_either_side) {
    std::vector<double> cached(91, 60), uncached(91, 400);
    cached.insert(cached.end(), 9, 1e8);   // interruptions
    uncached.insert(uncached.end(), 9, 1); // still cached by chance
    const auto found = find_threshold({cached, uncached});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ticks, 154u);
}

TEST(FindThreshold, does_not_guess_where_many_readings_overlap) {
    std::vector<double> cached(80, 60), uncached(80, 400);
    cached.insert(cached.end(), 20, 1000);
    EXPECT_FALSE(find_threshold({cached, uncached}));
    cached.assign(80, 60);
    uncached.insert(uncached.end(), 20, 50);
    EXPECT_FALSE(find_threshold({cached, uncached}));
}

TEST(FindThreshold, wants_them_a_quarter_apart) {
    const auto apart = [](double cached, double uncached) {
        return find_threshold({std::vector<double>(30, cached), std::vector<double>(30, uncached)})
            .has_value();
    };
    EXPECT_TRUE(apart(100, 125));
    EXPECT_FALSE(apart(100, 124));
    EXPECT_FALSE(apart(100, 100));
    EXPECT_FALSE(apart(400, 100)); // uncached is faster: whatever that is, it is no cache
    EXPECT_TRUE(apart(4, 5));
}

TEST(FindThreshold, of_no_readings_is_none) {
    EXPECT_FALSE(find_threshold({{}, {}}));
    EXPECT_FALSE(find_threshold({{60}, {}}));
    EXPECT_FALSE(find_threshold({{}, {400}}));
}

TEST(FindThreshold, is_found_for_single_readings_and_for_a_clock_that_stands_still) {
    const auto single = find_threshold({{60}, {240}});
    ASSERT_TRUE(single);
    EXPECT_EQ(single->ticks, 120u);
    EXPECT_FALSE(find_threshold({{0, 0}, {0, 0}}));
    const auto coarse = find_threshold({{0, 0}, {100, 100}}); // a ratio needs more than 0
    ASSERT_TRUE(coarse);
    EXPECT_EQ(coarse->ticks, 10u);
}

TEST(FindThreshold, fits_in_32_bits) {
    EXPECT_FALSE(find_threshold({{4e9}, {8e9}}));
    const auto large = find_threshold({{1e9}, {8e9}});
    ASSERT_TRUE(large);
    EXPECT_NEAR(large->ticks, std::sqrt(8e18), 1);
}

// "Above" is uncached: what is rounded to whole ticks must not put a percentile on the other side.
TEST(FindThreshold, leaves_the_cached_percentile_below_and_the_uncached_above) {
    noise::Random random(1);
    int found = 0;
    for (int i = 0; i < 2000; ++i) {
        const auto draw = [&](double scale) {
            return std::vector<double>(3, std::floor(scale * noise::uniform(random)));
        };
        const auto threshold = find_threshold({draw(20), draw(60)});
        if (!threshold) continue;
        ++found;
        EXPECT_LE(threshold->cached_ticks, threshold->ticks);
        EXPECT_GT(threshold->uncached_ticks, threshold->ticks);
    }
    EXPECT_GT(found, 1000);
}

// --- Names and arguments -------------------------------------------------------------------------

namespace {

void* plain_copy(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return std::memcpy(destination, source, bytes);
}

void* other_copy(void* destination, const void* source, std::size_t bytes, std::size_t) {
    return std::memmove(destination, source, bytes);
}

asterope_variant copying(asterope_variant variant, asterope_candidate copy) {
    variant.copy = copy;
    return variant;
}

const asterope_variant kHotVariant = copying(made_up("YMM", "T", "T", "none", 0), &plain_copy),
                       kColdVariant = copying(made_up("YMM", "T", "NT", "T0", 2), &other_copy);
const Candidate kHot{&kHotVariant, 0}, kCold{&kColdVariant, 16};

const asterope_copy kSource4 = made_up("source 4", "{}");

} // namespace

TEST(SensingCopy, is_named_by_its_probe_threshold_and_pipelines) {
    const SensingCopy copy{&kSource4, kHot, kCold, {187, 90, 390}};
    EXPECT_EQ(copy.name(), "source 4 > 187: YMM T NT T0 2 16, else YMM T T none 0 0");
}

TEST(SensingCopy, hands_its_pipelines_and_their_distances_on) {
    const SensingCopy copy{&kSource4, kHot, kCold, {187, 90, 390}};
    const asterope_sensing arguments = copy.arguments();
    EXPECT_EQ(arguments.threshold, 187u);
    EXPECT_EQ(arguments.hot, &plain_copy);
    EXPECT_EQ(arguments.hot_distance, 0u);
    EXPECT_EQ(arguments.cold, &other_copy);
    EXPECT_EQ(arguments.cold_distance, kCold.distance());
    EXPECT_NE(arguments.cold_distance, 0u);
}

// --- Readings ------------------------------------------------------------------------------------

namespace {

/// What the made-up probe and the made-up copy below were handed.
struct Call {
    const void *destination, *source;
    std::size_t bytes, distance;
    bool operator==(const Call&) const = default;
};
std::vector<Call> probed, copied;

unsigned read_next(void* destination, const void* source, std::size_t bytes) {
    probed.push_back({destination, source, bytes, copied.size()});
    return 40u + static_cast<unsigned>(probed.size());
}

void* noted_copy(void* destination, const void* source, std::size_t bytes, std::size_t distance) {
    copied.push_back({destination, source, bytes, distance});
    return std::memcpy(destination, source, bytes);
}

} // namespace

TEST(ReadingCopy, collects_what_the_probe_reads_and_then_copies) {
    probed.clear();
    copied.clear();
    asterope_copy probe = kSource4;
    probe.read = &read_next;
    const asterope_variant variant = copying(made_up("ZMM", "T", "T", "T0", 4), &noted_copy);
    const TimedCopy copy = timed_copy(Candidate{&variant, 8});
    ReadingCopy reading{probe, copy, {}};
    std::vector<char> source(5000), destination(5000, 'x');
    std::iota(source.begin(), source.end(), '\0');
    const auto self = reinterpret_cast<std::size_t>(&reading);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ReadingCopy::run(destination.data(), source.data(), 4999, self),
                  destination.data());
    }
    EXPECT_EQ(reading.ticks, (std::vector<double>{41, 42, 43}));
    ASSERT_EQ(probed.size(), 3u);
    ASSERT_EQ(copied.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(probed[i], (Call{destination.data(), source.data(), 4999, i}))
            << "not before its copy";
        EXPECT_EQ(copied[i], (Call{destination.data(), source.data(), 4999, 8 * 64}));
    }
    EXPECT_TRUE(std::equal(source.begin(), source.end() - 1, destination.begin()));
    EXPECT_EQ(destination.back(), 'x');
}

// --- The race ------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kSize = 65536;
const Weights kBalanced = equal_weights({Workload::hot, Workload::cold, Workload::consume});

/// Libc's time over an entrant's.
struct Truth {
    double hot, cold, consume;
};

/// The fixed copy first, then the sensing ones.
KnownMachine::Ratios ratios(const std::vector<Truth>& truths) {
    KnownMachine::Ratios ratios;
    for (const Truth& truth : truths) {
        ratios[Workload::hot].push_back(truth.hot);
        ratios[Workload::cold].push_back(truth.cold);
        ratios[Workload::consume].push_back(truth.consume);
    }
    return ratios;
}

std::optional<Finalist> race_on(KnownMachine& machine, std::size_t copies,
                                const Weights& weights = kBalanced, std::uint64_t seed = 1,
                                const char* rigor = "standard") {
    noise::Random random(seed);
    return race_sensing(copies, kSize, weights, parse_rigor(rigor), random, machine);
}

/// The entrant that wins, 0 for the fixed copy.
Entrant winner_of(const std::vector<Truth>& truths, const Weights& weights = kBalanced) {
    KnownMachine machine(ratios(truths));
    const auto winner = race_on(machine, truths.size() - 1, weights);
    return winner ? winner->candidate : 0;
}

} // namespace

TEST(RaceSensing, chooses_the_copy_that_leads) {
    EXPECT_EQ(winner_of({{1.0, 1.2, 1.1}, {1.0, 1.3, 1.2}, {1.0, 1.6, 1.3}, {1.0, 1.5, 1.3}}), 2);
}

TEST(RaceSensing, keeps_the_fixed_copy_on_a_tie) {
    EXPECT_EQ(winner_of({{1.3, 1.3, 1.3}, {1.3, 1.3, 1.3}, {1.3, 1.3, 1.3}}), 0);
    EXPECT_EQ(winner_of({{1.3, 1.3, 1.3}, {1.308, 1.308, 1.308}}), 0); // less than 1 %
    EXPECT_EQ(winner_of({{1.3, 1.3, 1.3}, {1.34, 1.34, 1.34}}), 1);
}

TEST(RaceSensing, keeps_the_fixed_copy_where_sensing_loses) {
    EXPECT_EQ(winner_of({{1.3, 1.3, 1.3}, {1.2, 1.2, 1.2}, {0.5, 0.5, 0.5}}), 0);
}

// What would lose more than 3 % to libc does not win, however good it is elsewhere.
TEST(RaceSensing, respects_the_rule_of_three_percent) {
    EXPECT_EQ(winner_of({{1.0, 1.1, 1.1}, {0.95, 2, 2}}), 0);
    EXPECT_EQ(winner_of({{1.0, 1.1, 1.1}, {0.98, 2, 2}}), 1);
    EXPECT_EQ(winner_of({{1.0, 1.1, 1.1}, {0.95, 2, 2}, {1.0, 1.3, 1.3}}), 2);
    // It is what sensing is for: the fixed copy has the better mean and loses where data is cached.
    EXPECT_EQ(winner_of({{0.5, 3, 3}, {1.0, 1.3, 1.3}}), 1);
    EXPECT_EQ(winner_of({{0.5, 3, 3}, {0.9, 1.3, 1.3}}), 0); // both lose
}

TEST(RaceSensing, is_lost_without_a_copy) {
    KnownMachine machine(ratios({{1, 1, 1}}));
    EXPECT_FALSE(race_on(machine, 0));
    EXPECT_TRUE(machine.calls.empty());
}

TEST(RaceSensing, measures_for_the_record_what_does_not_count) {
    Weights weights = kBalanced;
    weights.emplace_back(Workload::produce, 0);
    KnownMachine::Ratios truth = ratios({{1.0, 1.2, 1.2}, {1.0, 1.5, 1.5}});
    truth[Workload::produce] = {2, 0.4};
    KnownMachine machine(truth);
    const auto winner = race_on(machine, 1, weights);
    ASSERT_TRUE(winner);
    EXPECT_EQ(winner->candidate, 1);
    ASSERT_EQ(winner->workloads.size(), 4u);
    EXPECT_NEAR(winner->workloads.at(Workload::produce).ratio.median, 0.4, 1e-9);
    EXPECT_NEAR(winner->workloads.at(Workload::cold).ratio.median, 1.5, 1e-9);
    EXPECT_NEAR(winner->ratio, std::cbrt(1.5 * 1.5), 1e-9);
}

TEST(RaceSensing, times_the_size_asked_for_and_the_fixed_copy_in_the_run_off) {
    KnownMachine machine(ratios(std::vector<Truth>(21, {1.2, 1.2, 1.2})));
    race_on(machine, 20);
    std::map<Entrant, int> timed;
    for (const auto& [size, workload, entrant, round] : machine.calls) {
        EXPECT_EQ(size, kSize);
        ++timed[entrant];
    }
    EXPECT_EQ(timed[0], 3 * parse_rigor("standard").rounds);
    for (Entrant copy = 1; copy <= 20; ++copy) EXPECT_GE(timed[copy], 3 * 3) << copy;
}

TEST(RaceSensing, is_swayed_by_no_noise) {
    int won_by_luck = 0, missed = 0, broke_the_rule = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        NoisyMachine alike(ratios(std::vector<Truth>(15, {1.1, 1.3, 1.2})), 0.01, seed);
        won_by_luck += race_on(alike, 14, kBalanced, seed).has_value();

        std::vector<Truth> truths(15, {1.0, 1.2, 1.1});
        truths[9] = {1.0, 1.5, 1.25};
        NoisyMachine better(ratios(truths), 0.01, seed);
        const auto winner = race_on(better, 14, kBalanced, seed);
        missed += !winner || winner->candidate != 9;

        truths[9] = {0.9, 1.8, 1.6};
        NoisyMachine one_sided(ratios(truths), 0.005, seed);
        const auto forbidden = race_on(one_sided, 14, kBalanced, seed);
        broke_the_rule += forbidden && forbidden->candidate == 9;
    }
    EXPECT_LE(won_by_luck, 5);
    EXPECT_LE(missed, 2);
    EXPECT_LE(broke_the_rule, 2);
}
