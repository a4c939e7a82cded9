// The computations of a diagnosis, from made-up machines and figures.
#include "diagnose/comparison.hpp"
#include "diagnose/sections.hpp"
#include "space/tuple_json.hpp"
#include "support/unit_test.hpp"
#include "timing/clock.hpp"

using namespace asterope::diagnosis;

namespace {

const std::vector<Cache> kCaches = {{1, "data", 32 * kKiB, 64, 8, 1},
                                    {2, "unified", 1 * kMiB, 64, 8, 1},
                                    {3, "unified", 32 * kMiB, 64, 16, 2}};

constexpr auto all = [](std::string_view) { return true; };
constexpr auto none = [](std::string_view) { return false; };

const Profile kProfile = [] {
    Profile profile;
    for (const auto& [up_to, rt] : {std::pair(256u, "XMM"), {4096u, "ZMM"}, {65536u, "R64"}}) {
        const json tuple = {{"rt", rt},     {"lt", "T"}, {"st", "T"},
                            {"pt", "none"}, {"ps", 0},   {"pd", 0}};
        Choice& choice = profile.choices.emplace_back();
        choice.up_to = up_to;
        choice.copy = *find_candidate(asterope_copies, tuple);
    }
    return profile;
}();

/// A comparison with its baseline where libc took `libc` times as long, and the winner `winner`.
Comparison slower(const char* label, double libc, std::optional<double> winner = std::nullopt,
                  double width = 0.01) {
    const auto figures = [&](double factor) -> TakenTime {
        return {factor * 1e-9, {factor, factor - width, factor + width}};
    };
    Comparison comparison{
        {label, "base", {{"key", 1}}, nullptr}, "4 KiB", 4096, figures(libc), {1, 0.98, 1.02}};
    if (winner) {
        comparison.winner = figures(*winner);
        comparison.candidate = "XMM T T none 0 0";
        comparison.ratio = {libc / *winner, 0.5, 2};
    }
    return comparison;
}

/// Counts calls instead of copying.
std::map<std::string, int> runs;
CopyLoop counted(const std::string& name) {
    return [=](const TimedCopy& copy, std::size_t, std::uint64_t) {
        ++runs[name + (copy.function == libc_copy() ? " libc" : " winner")];
    };
}

/// Adds up what its samples are planned to take.
struct PlannedTimings : TimingsBy {
    using TimingsBy::TimingsBy;
    Sample sample(const SampleRequest& asked) override {
        planned += calibration(asked.size, asked.workload).seconds;
        return TimingsBy::sample(asked);
    }
    double planned = 0;
};

} // namespace

TEST(Winners, have_the_winner_of_the_interval_that_a_size_is_in_and_none_below_what_they_copy) {
    const Winners winners(kProfile, all);
    EXPECT_FALSE(winners.empty());
    EXPECT_TRUE(winners.left_out().empty());
    const std::pair<std::size_t, const char*> cases[] = {
        {kMinimumBytes, "XMM"},
        {256, "XMM"},
        {257, "ZMM"},
        {65536, "R64"},
        {std::size_t{1} << 40, "R64"}}; // beyond the last interval, as in the routine
    for (const auto& [bytes, rt] : cases) EXPECT_TRUE(winners.at(bytes)->name.starts_with(rt));
    EXPECT_EQ(winners.at(kMinimumBytes - 1), nullptr);
    EXPECT_TRUE(Winners().empty());
    EXPECT_EQ(Winners().at(4096), nullptr) << "libc alone without a profile";
}

TEST(Winners, leave_out_what_this_cpu_cannot_run_and_say_so) {
    const Winners winners(kProfile, none);
    EXPECT_EQ(winners.at(4096), nullptr);
    EXPECT_NE(winners.at(256), nullptr);
    ASSERT_EQ(winners.left_out().size(), 1u);
    EXPECT_TRUE(mentions(winners.left_out()[0], "up to 4 KiB"));
    EXPECT_TRUE(mentions(winners.left_out()[0], "ZMM"));
}

TEST(FitsIn, counts_both_sides_of_a_copy) {
    EXPECT_EQ(fits_in(16 * kKiB, kCaches), "L1");
    EXPECT_EQ(fits_in(16 * kKiB + 1, kCaches), "L2");
    EXPECT_EQ(fits_in(1 * kMiB, kCaches), "L3");
    EXPECT_EQ(fits_in(16 * kMiB + 1, kCaches), "memory");
    EXPECT_EQ(fits_in(128, {}), "memory");
}

TEST(CriticalStrides, are_the_bytes_of_a_cache_over_its_ways_where_that_is_known_and_another) {
    // Buffers: twice the ways; with both sides twice the L1, of 256 B each; no more than gigabytes.
    using Expected = std::vector<std::tuple<int, std::size_t, std::size_t>>;
    std::vector<Cache> unknown = kCaches;
    unknown[0].ways = 0;
    unknown[1].bytes = 0;
    const std::pair<std::vector<Cache>, Expected> cases[] = {
        {kCaches, {{1, 4096, 16}, {2, 128 * kKiB, 128}, {3, 2 * kMiB, 32}}},
        {unknown, {{3, 2 * kMiB, 32}}},
        {{}, {}},
        {{{1, "data", 32 * kKiB, 64, 8, 1}, {2, "unified", 64 * kKiB, 64, 16, 1}},
         {{2, 4096, 128}}}};
    for (const auto& [caches, expected] : cases) {
        Expected found;
        for (const CriticalStride& one : critical_strides(caches)) {
            found.emplace_back(one.level, one.bytes, one.buffers);
            EXPECT_EQ(one.span(), one.buffers * (one.bytes + 64));
        }
        EXPECT_EQ(found, expected);
    }
}

TEST(SlowdownVerdict, names_the_worst_of_each_copy_that_stands_out_surely) {
    Comparison noisy = slower("+1 B", 1.5);
    noisy.floor = {1, 0.5, 1.6}; // libc against libc is as far apart
    const Comparison base = slower("base", 1), wide = slower("+1 B", 1.5, std::nullopt, 0.6),
                     lucky = slower("lucky", 2.2, std::nullopt, 1);
    const std::string nothing = "libc: nothing that stands out (at most ";
    const std::pair<std::vector<Comparison>, std::string> cases[] = {
        {{slower("base", 1, 1), slower("+1 B", 25.06, 1.02), slower("+8 B", 2, 1.3)},
         "libc: worst 25.1 x slower at +1 B (4 KiB); "
         "winners: worst 1.30 x slower at +8 B (4 KiB)"},
        {{base, slower("+1 B", 2)}, "libc: worst 2.00 x slower at +1 B (4 KiB)"},
        {{base, slower("+1 B", 1.04)}, nothing + "1.04 x)"},
        {{base, wide}, nothing + "1.50 x)"}, // from 0.9 to 2.1: may be noise
        {{base, noisy}, nothing + "1.50 x)"},
        {{slower("sure", 2), lucky}, "libc: worst 2.00 x slower at sure (4 KiB)"}};
    for (const auto& [comparisons, verdict] : cases)
        EXPECT_EQ(slowdown_verdict(comparisons), verdict);
}

TEST(SpreadVerdict, compares_tails_with_medians_and_medians_with_those_alone) {
    EXPECT_EQ(spread_verdict({{4096, kAlone, "libc", 1e-6, 2e-6},
                              {4096, kAlone, "nothing", 1e-9, 1e-6},
                              {4096, "beside", "libc", 1.5e-6, 15e-6}}),
              "libc: the slowest call of 1000 takes 2.00 x the median (4 KiB alone), 10.0 x (4 KiB "
              "beside), and the neighbour makes the median 1.50 x (4 KiB)");
    EXPECT_EQ(
        spread_verdict({{4096, kAlone, "libc", 1e-6, 2e-6}, {4096, kAlone, "winner", 1e-6, 3e-6}}),
        "libc: the slowest call of 1000 takes 2.00 x the median (4 KiB alone); "
        "winner: the slowest call of 1000 takes 3.00 x the median (4 KiB alone)");
}

// Among the odd ones, the second, the fourth and the last lead by more than that.
TEST(SelfRacesVerdict, counts_leads_beyond_their_own_floor_and_a_tie_and_names_the_largest) {
    const SelfRaces quiet{1024, Workload::hot, {0, 0.01, -0.01}, {0.01, 0.01, 0.01}};
    const SelfRaces odd{65536,
                        Workload::cold,
                        {0.019, 0.021, 0.05, 0.05, -0.3, 0.3},
                        {0.001, 0.001, 0.06, 0.04, 0.001, 0.2}};
    EXPECT_EQ(odd.largest_floor(), 0.2);
    EXPECT_EQ(self_races_verdict({quiet}),
              "in none of 3 races the winner led by more than the noise floor and by more than a "
              "tie may cost (the largest lead: 1.0 %, at 1 KiB hot)");
    EXPECT_EQ(self_races_verdict({odd, quiet}),
              "in 3 of 9 races the winner led by more than the noise floor and by more than a tie "
              "may cost (the largest lead: 35.0 %, at 64 KiB cold)");
}

TEST(Fill, puts_conditions_downwards_and_groups_across) {
    Comparison small = slower("base", 3), hidden = slower("+2 B", 9, 9);
    small.group = "32 B";
    hidden.in_table = false;
    Section section;
    fill(section, {slower("base", 1, 1), slower("+1 B", 2, 1.5), small, hidden});
    EXPECT_EQ(section.columns,
              (std::vector<std::string>{"", "4 KiB libc", "winner", "x libc", "32 B libc"}));
    const std::vector<std::vector<std::string>> cells = {
        {"base", "1.0 ns", "1.0 ns", "1.00", "3.0 ns"},
        {"+1 B", "2.00", "1.50", "1.33", ""},
        {"libc against libc", "0.98..1.02", "", "", "0.98..1.02"}};
    EXPECT_EQ(section.cells, cells);
    ASSERT_EQ(section.rows.size(), 4u); // all of them
    const auto& row = section.rows[1];
    EXPECT_EQ(row["key"], 1);
    EXPECT_EQ(row["baseline"], "base");
    EXPECT_EQ(row["libc"]["slowdown"]["median"], 2);
    EXPECT_FALSE(section.rows[0].contains("baseline"));
    EXPECT_FALSE(section.rows[2].contains("winner"));
}

TEST(Compare, runs_every_copy_in_every_condition_in_every_round) {
    start_clock(false);
    const Machine machine;
    const Winners winners(kProfile, all);
    const Arena arena(1);
    PlannedTimings source(DisturbanceMonitor(
        0, [] { return MachineCounters{}; }, 1e9)); // which sees nothing
    RunTimings timings(true);
    timings.go_on_with(source);
    const Context context{machine, winners, arena, 0, 5, {}, timings, source};
    runs.clear();
    const auto comparisons = compare({{"1 KiB",
                                       1024,
                                       {{"base", "base", {}, counted("base")},
                                        {"other", "base", {{"at", 7}}, counted("other")}}},
                                      {"64 B", 64, {{"small", "small", {}, counted("small")}}}},
                                     context);
    ASSERT_EQ(comparisons.size(), 3u);
    EXPECT_EQ(comparisons[0].label, "base");
    EXPECT_TRUE(comparisons[0].is_baseline());
    EXPECT_EQ(comparisons[1].label, "other");
    EXPECT_FALSE(comparisons[1].is_baseline());
    EXPECT_EQ(comparisons[1].keys["at"], 7);
    EXPECT_EQ(comparisons[1].candidate, "ZMM T T none 0 0");
    EXPECT_FALSE(comparisons[2].winner); // no candidate copies 64 bytes
    // a warm-up and a sample a round
    EXPECT_EQ(runs["base winner"], 2 * 5);
    EXPECT_EQ(runs["other winner"], 2 * 5);
    EXPECT_EQ(runs["other libc"], 2 * 5);
    EXPECT_GE(runs["base libc"], 2 * 2 * 5); // libc twice, and to calibrate
    EXPECT_EQ(runs.count("small winner"), 0u);
    EXPECT_NEAR(source.planned, 1, 1e-9);
}

TEST(Repeated, copies_within_its_buffers_in_every_round) {
    constexpr std::size_t size = 300;
    std::string source(size + kRoaming, 's'), destination(size + kRoaming, 'd');
    const CopyLoop run = repeated(destination.data(), source.data(), size);
    std::set<std::size_t> places;
    for (std::uint64_t round = 0; round < 64; ++round) {
        EXPECT_LT(roam(round), kRoaming);
        EXPECT_EQ(roam(round) % 64, 0u);
        places.insert(roam(round));
        destination.assign(destination.size(), 'd');
        run({libc_copy()}, 2, round);
        EXPECT_EQ(destination.find('s'), roam(round));
        EXPECT_EQ(destination.find_last_of('s'), roam(round) + size - 1);
    }
    EXPECT_EQ(places.size(), 64u);
}
