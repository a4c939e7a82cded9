// The report on made-up figures: the verdict, the line, and their grounds.
#include "tunables/report.hpp"

#include "support/unit_test.hpp"

namespace {

SizeGain gain(std::size_t size, Way before, Way after, double ratio, double worth) {
    const Estimate estimate{ratio, ratio * 0.98, ratio * 1.02}, floor{1, 0.99, 1.01};
    SizeGain gain{size, before, after, estimate, floor, worth, {}, {}};
    gain.workloads[Workload::hot] = {1e3 / ratio, 1e3, estimate};
    gain.floors[Workload::hot] = floor;
    return gain;
}

/// Zen 5 under glibc 2.36, as a virtual machine sees it, and a setting for sizes from 16 MiB.
TunablesReport report_of(std::vector<SizeGain> gains) {
    TunablesReport report{};
    report.machine.libc = "glibc 2.36";
    report.machine.caches = {{3, "unified", 32 * kMiB, 64, 16, 4}};
    report.objective = {"hot", {{Workload::hot, 1}}};
    report.rigor = "quick";
    report.tunables = {{kRepMovsbThreshold, {2112, 512, ~std::size_t{0}}},
                       {kNonTemporalThreshold, {288 * kMiB, 0x4040, ~std::size_t{0} >> 4}},
                       {"x86_shared_cache_size", {384 * kMiB, 0, ~std::size_t{0}}}};
    report.choice.knobs = {{2112, kMiB, 288 * kMiB},
                           report.tunables[kRepMovsbThreshold],
                           report.tunables[kNonTemporalThreshold]};
    report.choice.thresholds = {2112, kMiB, 16 * kMiB};
    report.choice.ways = {
        {4 * kKiB, Way::rep_movsb, {1, 1, 1}, {{Way::vector, {0.9, 0.8, 1}, 0.5, -0.2}}}};
    report.gains = std::move(gains);
    return report;
}

const SizeGain kSame = gain(4 * kKiB, Way::rep_movsb, Way::rep_movsb, 0.9, 0);
const SizeGain kFaster = gain(32 * kMiB, Way::vector, Way::non_temporal_2, 1.2, 0.18);

} // namespace

TEST(TunablesReport, has_a_line_where_the_sizes_are_worth_it) {
    const TunablesReport report = report_of({kSame, kFaster});
    EXPECT_TRUE(line_of(report).ends_with("glibc.cpu.x86_non_temporal_threshold=16777216"));
    const std::string text = verdict_text(report);
    EXPECT_TRUE(mentions(text,
                         "\n1.20 times as fast as the default at the sizes that are copied in "
                         "another way"));
    EXPECT_TRUE(mentions(text, "\nFaster at: 32 MiB 1.20\nSlower at: none\n"));
    EXPECT_TRUE(mentions(text, "\n" + line_of(report) + "\n"));
}

TEST(TunablesReport, keeps_the_default_where_timed_anew_it_is_as_good) {
    const TunablesReport report =
        report_of({kSame, gain(32 * kMiB, Way::vector, Way::non_temporal_2, 0.9, -0.1)});
    EXPECT_EQ(line_of(report), "");
    EXPECT_TRUE(mentions(verdict_text(report), "\nKeep the default: timed anew"));
    EXPECT_EQ(to_json(report)["line"], "");
    EXPECT_EQ(to_json(report)["change"], false);
    TunablesReport nothing = report_of({}); // was better
    nothing.choice.thresholds = nothing.choice.knobs.now;
    EXPECT_TRUE(mentions(verdict_text(nothing), "\nKeep the default: no other thresholds"));
    EXPECT_TRUE(to_json(nothing)["ratio"].is_null());
}

TEST(TunablesReport, says_where_nothing_was_timed_that_larger_sizes_are_needed) {
    TunablesReport untimed = report_of({});
    untimed.choice.ways = {{128, Way::vector, {1, 1, 1}, {}}};
    EXPECT_EQ(ways_table(untimed.choice.ways), "");
    EXPECT_TRUE(mentions(verdict_text(untimed), "Keep the default: no threshold reaches"));
}

TEST(TunablesReport, doubts_a_cache_size_only_where_a_gain_was_measured) {
    const std::string doubt = "glibc took the last cache for 384 MiB";
    EXPECT_TRUE(mentions(verdict_text(report_of({kFaster})), doubt));
    const SizeGain other = gain(4 * kKiB, Way::rep_movsb, Way::vector, 1.2, 0.18);
    EXPECT_FALSE(mentions(verdict_text(report_of({other})), doubt));
    TunablesReport plausible = report_of({kFaster});
    plausible.tunables["x86_shared_cache_size"].value = 32 * kMiB;
    EXPECT_FALSE(mentions(verdict_text(plausible), doubt));
}

TEST(TunablesReport, says_how_memcpy_copies_by_default) {
    EXPECT_EQ(default_text(report_of({})),
              "glibc 2.36 here: rep movsb above 2112 B and below 1 MiB, non-temporal stores above "
              "288 MiB, else the vector loop\n"
              "  x86_rep_movsb_threshold 2112 (from 512 to 18446744073709551615)\n"
              "  x86_non_temporal_threshold 301989888 (from 16448 to 1152921504606846975)\n"
              "Its malloc has mmap_threshold, trim_threshold, and from 2.35 on hugetlb: they save\n"
              "page faults. asterope-prove --runs --tunables -- PROGRAM tries these.\n");
    EXPECT_EQ(describe({kNever, kMiB, kNever}), "always the vector loop");
}
