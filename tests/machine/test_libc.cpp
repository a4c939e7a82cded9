// The loader's lists of tunables and diagnostics: known lines are read, others are skipped.
#include "machine/libc.hpp"

#include "support/unit_test.hpp"

TEST(ParseTunables, are_those_of_the_processor_that_are_sizes) {
    constexpr std::size_t kAny = ~std::size_t{0};
    const std::map<std::string, Tunable> expected = {
        {"hwcap_mask", {6, 0, kAny}},
        {kNonTemporalThreshold, {0x12000000, 0x4040, 0xfffffffffffffff}},
        {kRepMovsbStopThreshold, {1 << 20, 0, kAny}},
        {kRepMovsbThreshold, {0x840, 0x200, kAny}},
        {"x86_shared_cache_size", {0x18000000, 0, kAny}}};
    // Pasted from glibc 2.36 and later ones: strings, whole numbers and sizes, in no order.
    const auto found = parse_tunables(
        "glibc.rtld.nns: 0x4 (min: 0x1, max: 0x10)\n"
        "glibc.malloc.perturb: 0 (min: 0, max: 255)\n"
        "glibc.cpu.x86_shared_cache_size: 0x18000000 (min: 0x0, max: 0xffffffffffffffff)\n"
        "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x200, max: 0xffffffffffffffff)\n"
        "glibc.cpu.x86_non_temporal_threshold: 0x12000000 (min: 0x4040, max: 0xfffffffffffffff)\n"
        "glibc.cpu.x86_shstk:\n"
        "glibc.cpu.hwcap_mask: 0x6 (min: 0x0, max: 0xffffffffffffffff)\n"
        "glibc.malloc.check: 0 (min: 0, max: 3)\n"
        "glibc.cpu.prefer_map_32bit_exec: 0 (min: 0, max: 1)\n"
        "glibc.cpu.x86_rep_movsb_stop_threshold: 0x100000 (min: 0x0, max: 0xffffffffffffffff)\n");
    EXPECT_EQ(found, expected);
}

TEST(ParseTunables, pass_over_other_lines) {
    for (const char* const line :
         {"", "\n\n", "glibc.cpu.", "glibc.cpu.x", "glibc.cpu.x:", "glibc.cpu.x: ",
          "glibc.cpu.x: 0x", "glibc.cpu.x: 0x840", "glibc.cpu.x: 0x840 (min: 0x200",
          "glibc.cpu.x: 0x840 (min: 0x200, max: )", "glibc.cpu.x: 840 (min: 0x200, max: 0xff)",
          "glibc.cpu.x: 0x1ffffffffffffffff (min: 0x0, max: 0xff)",
          "glibc.cpu.x: 0x-1 (min: 0x0, max: 0xff)", "x: 0x1 (min: 0x0, max: 0xff)",
          "  glibc.cpu.x: 0x1 (min: 0x0, max: 0xff)",
          "/lib64/ld-linux-x86-64.so.2: unrecognized option '--list-tunables'"}) {
        EXPECT_TRUE(parse_tunables(line).empty()) << line;
    }
    const std::string nul("glibc.cpu.x: 0x1\0 (min: 0x0, max: 0xff)", 40);
    EXPECT_LE(parse_tunables(nul + std::string(100'000, ':')).size(), 1u);
}

TEST(ParseRepMovsbStop, is_among_the_diagnostics) {
    EXPECT_EQ(parse_rep_movsb_stop("x86.cpu_features.rep_movsb_threshold=0x840\n"
                                   "x86.cpu_features.rep_movsb_stop_threshold=0x100000\n"
                                   "x86.cpu_features.rep_stosb_threshold=0x800\n"),
              std::size_t{1} << 20);
    EXPECT_EQ(parse_rep_movsb_stop(""), 0u);
    EXPECT_EQ(parse_rep_movsb_stop("x86.cpu_features.rep_movsb_stop_threshold=\"many\"\n"), 0u);
    EXPECT_EQ(parse_rep_movsb_stop("env_filtered[0x1]=\"x86.cpu_features.rep_movsb_stop_threshold="
                                   "0x1\"\n"),
              0u);
}
