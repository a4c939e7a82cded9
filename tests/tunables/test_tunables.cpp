// The tunables that a libc's list offers, or one line that says why it offers none.
#include "tunables/tunables.hpp"

#include "support/unit_test.hpp"

namespace {

const std::map<std::string, Tunable> kListed = {
    {kRepMovsbThreshold, {2112, 512, 1 << 30}},
    {kNonTemporalThreshold, {1 << 20, 0x4040, 1 << 30}}};

} // namespace

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
