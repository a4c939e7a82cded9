// Copies that sense: thresholds from readings, names and arguments, and what a probe collects.
#include "search/sensing_search.hpp"

#include "support/made_up_variants.hpp"
#include "support/random_figures.hpp"
#include "support/remembered_calls.hpp"
#include "support/unit_test.hpp"

namespace {

/// to, to - 1, ... down to `from`: not sorted as percentiles want it.
std::vector<double> falling(int from, int to) {
    std::vector<double> values(static_cast<std::size_t>(to - from + 1));
    std::iota(values.rbegin(), values.rend(), from);
    return values;
}

TEST(FindThreshold, is_midway_by_ratio_between_the_90th_percentile_and_the_20th) {
    std::vector<double> wild_cached(91, 60), wild_uncached(81, 400), wilder(80, 60);
    wild_cached.insert(wild_cached.end(), 9, 1e8);    // interruptions
    wild_uncached.insert(wild_uncached.end(), 19, 1); // still cached by chance
    wilder.insert(wilder.end(), 20, 1000);
    using Readings = std::vector<double>;
    using Figures = std::optional<std::tuple<std::uint32_t, double, double>>; ///< ticks first
    const auto many = [](double reading) { return Readings(30, reading); };
    const struct {
        const char* rule;
        Readings cached, uncached;
        Figures found;
    } cases[] = {
        {"sqrt(91 * 321)", falling(1, 101), falling(301, 401), {{170, 91, 321}}},
        {"by nearest rank", falling(1, 30), falling(301, 330), {{90, 27, 306}}},
        {"a tenth and a fifth are wild", wild_cached, wild_uncached, {{154, 60, 400}}},
        {"many overlap", wilder, Readings(80, 400), {}},
        {"a quarter apart", many(100), many(125), {{111, 100, 125}}},
        {"less than a quarter apart", many(100), many(124), {}},
        {"a quarter apart in few ticks", many(4), many(5), {{4, 4, 5}}},
        {"uncached is faster: that is no cache", many(400), many(100), {}},
        {"single readings", {60}, {240}, {{120, 60, 240}}},
        {"none uncached", {60}, {}, {}},
        {"none cached", {}, {400}, {}},
        {"a clock that stands still", {0, 0}, {0, 0}, {}},
        {"a coarse clock: a ratio needs more than 0", {0, 0}, {100, 100}, {{10, 1, 100}}},
        {"more than 32 bits", {4e9}, {8e9}, {}},
        {"no more than 32 bits", {1e9}, {8e9}, {{2828427124u, 1e9, 8e9}}},
    };
    for (const auto& [rule, cached, uncached, expected] : cases) {
        const auto found = find_threshold({cached, uncached});
        const Figures figures =
            found ? Figures({found->ticks, found->cached_ticks, found->uncached_ticks})
                  : std::nullopt;
        EXPECT_EQ(figures, expected) << rule;
    }
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

TEST(CommonThreshold, is_shared_by_as_many_sizes_as_it_can_serve) {
    const auto at = [](double cached, double uncached) {
        return Readings{std::vector<double>(10, cached), std::vector<double>(10, uncached)};
    };
    const struct {
        std::vector<Readings> by_size;
        std::uint32_t ticks;
        std::vector<std::size_t> sizes;
    } cases[] = {
        // between 60 and 300
        {{at(50, 400), at(100, 100), at(500, 4000), at(60, 300), Readings{}, at(5, 9)},
         134,
         {0, 3}},
        // between 300 and 450: the third lies between the others, and fits with the first two alone
        {{at(40, 450), at(150, 1200), at(300, 1600), at(900, 3000), at(1500, 2100)},
         367,
         {0, 1, 2}},
        {{at(40, 50)}, 44, {0}},
        // larger ones that are never cached; not what is cached there, what has another threshold,
        // and what was not read
        {{at(300, 300), at(40, 400), at(390, 400), at(500, 900), at(100, 110), Readings{}},
         126,
         {1, 2}},
    };
    for (const auto& [by_size, ticks, sizes] : cases) {
        const auto found = common_threshold(by_size);
        ASSERT_TRUE(found) << ticks;
        EXPECT_EQ(found->threshold.ticks, ticks);
        EXPECT_EQ(found->sizes, sizes);
    }
    EXPECT_FALSE(common_threshold({at(100, 100)}));
    EXPECT_FALSE(common_threshold({}));
}

void* noted_copy(void* destination, const void* source, std::size_t bytes, std::size_t distance) {
    remember(destination, source, bytes, distance);
    return std::memcpy(destination, source, bytes);
}

asterope_variant copying(asterope_variant variant, asterope_candidate copy) {
    variant.copy = copy;
    return variant;
}

const asterope_variant kHotVariant = copying(made_up("YMM", "T", "T", "none", 0), &remember),
                       kColdVariant = copying(made_up("YMM", "T", "NT", "T0", 2), &noted_copy);
const Candidate kHotCopy{&kHotVariant, 0}, kColdCopy{&kColdVariant, 16};

const asterope_copy kSource4 = made_up("source 4", {{"kind", "source", 0}, {"lines", nullptr, 4}}),
                    kEach2 = made_up("each 2", {{"kind", "each", 0}, {"lines", nullptr, 2}}),
                    kBoth4 = made_up("both 4", {{"kind", "both", 0}, {"lines", nullptr, 4}});

TEST(Probes, of_both_sides_and_of_sets_heed_call_sites) {
    const asterope_copy sets =
        made_up("destination 2", {{"kind", "destination", 0}, {"lines", nullptr, 2}});
    constexpr std::size_t kSmall = kSensingMinimum, kLarge = std::size_t{1} << 30;
    EXPECT_EQ(heeds_sites(kBoth4, kSmall), kHeededBelow > kSmall) << "on x86-64 alone";
    EXPECT_FALSE(heeds_sites(kBoth4, kHeededBelow));
    EXPECT_FALSE(heeds_sites(kBoth4, kLarge));
    EXPECT_TRUE(heeds_sites(sets, kSmall));
    EXPECT_TRUE(heeds_sites(sets, kLarge));
    EXPECT_FALSE(heeds_sites(kSource4, kSmall));
    EXPECT_FALSE(heeds_sites(kEach2, kSmall));
    EXPECT_EQ(pipelines_behind(sets), 2u);
}

TEST(SensingCopy, is_named_by_its_probe_threshold_and_pipelines_and_hands_them_on) {
    EXPECT_EQ(
        std::tuple(pipelines_behind(kSource4), pipelines_behind(kEach2), pipelines_behind(kBoth4)),
        std::tuple(2u, 3u, 4u));
    const SensingCopy two{&kSource4, kHotCopy, kColdCopy, {187, 90, 390}},
        three{&kEach2, kHotCopy, kHotCopy, {187, 90, 390}, kColdCopy},
        four{&kBoth4, kHotCopy, kColdCopy, {187, 90, 390}, kHotCopy, kColdCopy};
    EXPECT_EQ(two.name(), "source 4 > 187: YMM T NT T0 2 16, else YMM T T none 0 0");
    EXPECT_EQ(three.name(), "each 2 > 187: YMM T T none 0 0, fetch YMM T NT T0 2 16, else "
                            "YMM T T none 0 0");
    EXPECT_EQ(four.name(), "both 4 > 187: YMM T NT T0 2 16, produce YMM T NT T0 2 16, fetch "
                           "YMM T T none 0 0, else YMM T T none 0 0");
    const asterope_sensing of_two = two.arguments(), of_three = three.arguments(),
                           of_four = four.arguments();
    EXPECT_NE(kColdCopy.distance(), 0u);
    EXPECT_EQ(std::tuple(of_two.threshold, of_two.hot, of_two.hot_distance, of_two.cold,
                         of_two.cold_distance, of_two.fetch),
              std::tuple(187u, &remember, 0u, &noted_copy, kColdCopy.distance(), nullptr));
    EXPECT_EQ(std::tuple(of_three.cold, of_three.fetch, of_three.fetch_distance, of_three.produce),
              std::tuple(&remember, &noted_copy, kColdCopy.distance(), nullptr));
    EXPECT_EQ(std::tuple(of_four.fetch, of_four.produce, of_four.produce_distance),
              std::tuple(&remember, &noted_copy, kColdCopy.distance()));
}

std::vector<Call> probed;

std::size_t read_next(void* destination, const void* source, std::size_t bytes) {
    probed.push_back(
        {static_cast<char*>(destination), static_cast<const char*>(source), bytes, calls.size()});
    return 1000 * probed.size() << 32 | (40u + probed.size());
}

TEST(ReadingCopy, collects_what_the_probe_reads_of_each_side_and_then_copies) {
    probed.clear();
    calls.clear();
    asterope_copy probe = kSource4;
    probe.read = &read_next;
    const asterope_variant variant = copying(made_up("ZMM", "T", "T", "T0", 4), &noted_copy);
    const TimedCopy copy = timed_copy(Candidate{&variant, 8});
    ReadingCopy reading{probe, copy, {}};
    std::vector<char> source(5000), destination(5000, 'x');
    std::iota(source.begin(), source.end(), '\0');
    char *const to = destination.data(), *const from = source.data();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ReadingCopy::run(to, from, 4999, reinterpret_cast<std::size_t>(&reading)), to);
    }
    EXPECT_EQ(reading.ticks, (ProbeTicks{{41, 42, 43}}));
    const std::vector<Call> each_before_its_copy = {
        {to, from, 4999, 0}, {to, from, 4999, 1}, {to, from, 4999, 2}};
    EXPECT_EQ(probed, each_before_its_copy);
    EXPECT_EQ(calls, std::vector(3, Call{to, from, 4999, 8 * 64}));
    EXPECT_TRUE(std::equal(source.begin(), source.end() - 1, destination.begin()));
    EXPECT_EQ(destination.back(), 'x');
    probe = kEach2; // which looks at both sides
    probe.read = &read_next;
    ReadingCopy both{probe, copy, {}};
    ReadingCopy::run(to, from, 1, reinterpret_cast<std::size_t>(&both));
    EXPECT_EQ(both.ticks, (ProbeTicks{{44}, {4000}}));
}

} // namespace
