// The thresholds that a libc's list offers, or one line that says why it offers none, and their
// choice: of made-up worths, whose best setting is known.
#include "tunables/thresholds.hpp"

#include "support/unit_test.hpp"

namespace {

constexpr std::size_t kAny = ~std::size_t{0};

const std::map<std::string, Tunable> kListed = {
    {kRepMovsbThreshold, {2112, 512, 1 << 30}},
    {kNonTemporalThreshold, {1 << 20, 0x4040, 1 << 30}}};

/// Zen 4 and 5 under glibc 2.36 in a virtual machine.
Knobs zen() {
    return {{2112, kMiB, 288 * kMiB}, {2112, 512, kAny}, {288 * kMiB, 0x4040, kAny >> 4}};
}

/// Powers of two from 128 bytes to 32 MiB, at each of which a way is worth what `worth` says.
template <class Worth> std::vector<SizeWays> sizes_with(const Worth& worth) {
    std::vector<SizeWays> sizes;
    for (std::size_t size = 128; size <= 32 * kMiB; size *= 2) {
        SizeWays& one = sizes.emplace_back(SizeWays{size, {}, {}, {}});
        for (const Way way : kWays) one.ways.push_back({way, {}, 1, worth(size, way)});
    }
    return sizes;
}

bool is_past_caches(Way way) {
    return way == Way::non_temporal_2 || way == Way::non_temporal_4;
}

} // namespace

TEST(ChooseThresholds, are_worth_most_over_all_sizes) {
    struct Range {
        std::size_t from, below;
        bool holds(std::size_t value) const { return from <= value && value < below; }
    };
    static constexpr auto only_at_4_kib = [](std::size_t size, Way way, double worth) {
        return size == 4 * kKiB && way == Way::vector ? worth : 0.0;
    };
    const Range rep_now{2112, 2113}, past_now{288 * kMiB, 288 * kMiB + 1};
    const struct {
        const char* what;
        double (*worth)(std::size_t size, Way way);
        Range rep_movsb, non_temporal;
    } rows[] = {
        {"all is worse",
         [](std::size_t size, Way way) { return way == way_of(zen().now, size) ? 0.0 : -0.1; },
         rep_now, past_now},
        {"less than a change is worth",
         [](std::size_t size, Way way) { return only_at_4_kib(size, way, 0.9 * kLeastWorth); },
         rep_now, past_now},
        {"just more",
         [](std::size_t size, Way way) { return only_at_4_kib(size, way, 1.1 * kLeastWorth); },
         {4 * kKiB, 8 * kKiB},
         past_now},
        {"the vector loop is better up to the stop",
         [](std::size_t size, Way way) {
             return size > 2112 && size < kMiB && way == Way::vector ? 0.3 : 0.0;
         },
         {512 * kKiB, kAny},
         past_now},
        {"rep movsb wins from 64 KiB on",
         [](std::size_t size, Way way) {
             return (size >= 64 * kKiB) == (way == Way::rep_movsb) ? 0.1 : -0.1;
         },
         {32 * kKiB, 64 * kKiB},
         {0, kAny}},
        {"past the caches it is faster from 4 MiB on",
         [](std::size_t size, Way way) {
             return !is_past_caches(way) ? 0.0 : size >= 4 * kMiB ? 0.4 : -0.8;
         },
         rep_now,
         {2 * kMiB, 4 * kMiB}},
        {"it is at one size alone: 0.3 there, -0.1 at the four above it",
         [](std::size_t size, Way way) {
             return !is_past_caches(way) ? 0.0 : size == 2 * kMiB ? 0.3 : -0.1;
         },
         rep_now, past_now},
        // and four pages follow two at sixteen times the threshold
        {"four pages at a time are faster from 4 MiB on, two are slower",
         [](std::size_t size, Way way) {
             const double worth = size >= 4 * kMiB ? 0.5 : 0.0;
             return way == Way::non_temporal_4 ? worth : is_past_caches(way) ? -worth : 0.0;
         },
         {0, kAny},
         {0, 256 * kKiB + 1}},
    };
    for (const auto& [what, worth, rep_movsb, non_temporal] : rows) {
        const CopyThresholds chosen = choose_thresholds(zen(), sizes_with(worth));
        EXPECT_TRUE(rep_movsb.holds(chosen.rep_movsb)) << what << ": " << chosen.rep_movsb;
        EXPECT_TRUE(non_temporal.holds(chosen.non_temporal)) << what << ": " << chosen.non_temporal;
    }
}

TEST(ChooseThresholds, moves_the_stop_where_there_is_a_tunable_of_it) {
    const auto sizes = sizes_with([](std::size_t size, Way way) {
        return size >= kMiB && size <= 4 * kMiB && way == Way::rep_movsb ? 0.2 : 0.0;
    });
    EXPECT_EQ(choose_thresholds(zen(), sizes), zen().now); // it cannot be had
    Knobs knobs = zen();
    knobs.stop = {kMiB, 0, kAny};
    const CopyThresholds chosen = choose_thresholds(knobs, sizes);
    EXPECT_GT(chosen.stop, 4 * kMiB);
    EXPECT_EQ(knobs.changes(chosen), (LibcThresholds{{kRepMovsbStopThreshold, chosen.stop}}));
}

TEST(ChooseThresholds, takes_the_stop_along_where_it_follows) {
    Knobs knobs{{2048, kMiB, kMiB}, {2048, 256, kAny}, {kMiB, 0x4040, kAny >> 4}};
    knobs.stop_follows = true;
    const CopyThresholds chosen =
        choose_thresholds(knobs, sizes_with([](std::size_t size, Way way) {
                              return size >= 256 * kKiB && is_past_caches(way) ? 0.2 : 0.0;
                          }));
    EXPECT_EQ(chosen.stop, chosen.non_temporal);
    EXPECT_EQ(way_of(chosen, 256 * kKiB), Way::non_temporal_2);
    EXPECT_EQ(way_of(chosen, 128 * kKiB), Way::rep_movsb);
    EXPECT_EQ(knobs.changes(chosen),
              (LibcThresholds{{kNonTemporalThreshold, chosen.non_temporal}}));
}

TEST(ChooseThresholds, stays_within_the_limits) {
    Knobs knobs = zen();
    knobs.rep_movsb = {2112, 512, 3000};
    knobs.non_temporal = {288 * kMiB, 16 * kMiB, 288 * kMiB};
    const CopyThresholds chosen =
        choose_thresholds(knobs, sizes_with([](std::size_t size, Way way) {
                              if (is_past_caches(way)) return 0.4;
                              return size > 256 && way == Way::vector ? 0.1 : 0.0;
                          }));
    EXPECT_LE(chosen.rep_movsb, 3000u);
    EXPECT_GE(chosen.non_temporal, 16 * kMiB);
    EXPECT_EQ(way_of(chosen, 32 * kMiB), Way::non_temporal_2);
}

TEST(WayOf, is_as_glibc_compares) {
    const CopyThresholds thresholds{2048, kMiB, 4 * kMiB};
    EXPECT_EQ(way_of(thresholds, 2048), Way::vector);
    EXPECT_EQ(way_of(thresholds, 2049), Way::rep_movsb);
    EXPECT_EQ(way_of(thresholds, kMiB - 1), Way::rep_movsb);
    EXPECT_EQ(way_of(thresholds, kMiB), Way::vector);
    EXPECT_EQ(way_of(thresholds, 4 * kMiB + 1), Way::non_temporal_2);
    EXPECT_EQ(way_of(thresholds, 64 * kMiB), Way::non_temporal_4);
    // where rep movsb goes on, it comes first
    EXPECT_EQ(way_of({2048, 64 * kMiB, kMiB}, 8 * kMiB), Way::rep_movsb);
}

TEST(CopyThresholdsOf, a_process_whose_stop_is_not_known_are_intels) {
    EXPECT_EQ(copy_thresholds({{kRepMovsbThreshold, 2048}, {kNonTemporalThreshold, kMiB}}),
              (CopyThresholds{2048, kMiB, kMiB}));
    EXPECT_EQ(copy_thresholds({{kRepMovsbThreshold, 2048},
                               {kRepMovsbStopThreshold, 512 * kKiB},
                               {kNonTemporalThreshold, kMiB}}),
              (CopyThresholds{2048, 512 * kKiB, kMiB}));
}

TEST(KnobsOf, are_what_this_glibc_lists) {
    const Knobs knobs = knobs_of("glibc 2.36", kListed, "");
    // above the least ones, which glibc ignores
    EXPECT_EQ(knobs.rep_movsb, (Tunable{2112, 512 + 64, 1 << 30}));
    EXPECT_EQ(knobs.non_temporal, (Tunable{1 << 20, 0x4040 + 64, 1 << 30}));
    EXPECT_FALSE(knobs.stop);
    auto more = kListed;
    more[kRepMovsbStopThreshold] = {1 << 20, 0, 1 << 30};
    EXPECT_EQ(knobs_of("glibc 2.50", more, "").stop, (Tunable{1 << 20, 64, 1 << 30}));
}

TEST(KnobsOf, another_libc_or_one_that_does_not_list_both_are_none) {
    auto less = kListed;
    less.erase(kNonTemporalThreshold);
    const std::string slow = "/lib/ld.so --list-tunables: takes longer than two seconds",
                      early = "glibc 2.31 lists no glibc.cpu.x86_rep_movsb_threshold (it lists "
                              "none: that began with 2.33)";
    const struct {
        const char* libc;
        std::map<std::string, Tunable> listed;
        std::string why, said;
    } cases[] = {
        {"musl", {}, "", "libc here is musl, not glibc"},
        {"glibc 2.31", {}, "", early},
        {"glibc 2.36", {}, slow, slow},
        {"glibc 2.36", less, "", "glibc 2.36 lists no glibc.cpu.x86_non_temporal_threshold"}};
    for (const auto& one : cases) {
        EXPECT_EQ(refusal_of([&] { knobs_of(one.libc, one.listed, one.why); }),
                  "no tunables to choose: " + one.said);
    }
}
