// What can be set: of a libc and its list, or one line that says why nothing can.
#include "tunables/tunables.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/refusal.hpp"

using namespace asterope;

namespace {

const std::map<std::string, Tunable> kListed = {
    {kRepMovsbThreshold, {2112, 512, 1 << 30}},
    {kNonTemporalThreshold, {1 << 20, 0x4040, 1 << 30}}};

std::string refusal(const std::string& libc, const std::map<std::string, Tunable>& tunables,
                    const std::string& why = "") {
    return refusal_of([&] { knobs_of(libc, tunables, why); });
}

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

TEST(KnobsOf, another_libc_are_none) {
    EXPECT_EQ(refusal("musl", {}), "no tunables to choose: libc here is musl, not glibc");
}

TEST(KnobsOf, an_older_glibc_are_none) {
    EXPECT_EQ(refusal("glibc 2.31", {}),
              "no tunables to choose: glibc 2.31 lists no glibc.cpu.x86_rep_movsb_threshold (it "
              "lists none: that began with 2.33)");
}

TEST(KnobsOf, a_loader_that_cannot_be_asked_are_none) {
    EXPECT_EQ(
        refusal("glibc 2.36", {}, "/lib/ld.so --list-tunables: takes longer than two seconds"),
        "no tunables to choose: /lib/ld.so --list-tunables: takes longer than two seconds");
}

TEST(KnobsOf, a_glibc_without_one_of_them_are_none) {
    auto less = kListed;
    less.erase(kNonTemporalThreshold);
    EXPECT_EQ(refusal("glibc 2.36", less),
              "no tunables to choose: glibc 2.36 lists no glibc.cpu.x86_non_temporal_threshold");
}
