// Peers: each copies right at every size and misalignment, and those that cannot run here say why.
#include "bench/peers/peers.hpp"

#include <gtest/gtest.h>
#include <regex>
#include <set>

#include "machine/cpu.hpp"

extern "C" {
#include "routine/copy_check.h"
}

using namespace asterope;

TEST(Peers, copy_right_and_touch_nothing_else) {
    copy_plan plan{};
    plan.last = 1024;
    plan.page_ends = 3;
    plan.offsets = 7; // odd: every size meets all offsets of either side, and all differences
    plan.doubling = 1024;
    plan.largest = 8 << 20;
    copy_check_start(plan.largest + 64);
    for (const Peer& peer : built_in_peers()) {
        if (!peer.missing.empty()) continue;
        const copy_subject subject = {
            peer.name.c_str(), peer.copy, {0, 0}, 0, false, false, nullptr};
        EXPECT_TRUE(copy_check(&subject, &plan)) << peer.name;
    }
}

#ifdef __x86_64__
TEST(Peers, leave_the_upper_vector_halves_clean) {
    if (!copy_check_sees_dirty_halves()) GTEST_SKIP() << "not to be seen on this CPU";
    std::vector<char> from(100000), to(from.size());
    for (const Peer& peer : built_in_peers()) {
        if (!peer.missing.empty()) continue;
        for (const std::size_t bytes : {std::size_t{40}, std::size_t{1000}, from.size()}) {
            std::uint32_t in_use, high;
            __asm__ volatile("vzeroupper");
            peer.copy(to.data(), from.data(), bytes, 0);
            __asm__ volatile("xgetbv" : "=a"(in_use), "=d"(high) : "c"(1)); // see copy_check.c
            EXPECT_EQ(in_use & 4, 0u) << peer.name << ' ' << bytes << " bytes";
        }
    }
}
#endif

TEST(Peers, are_described_or_say_why_they_are_missing_each_under_its_own_name) {
    std::set<std::string> names;
    for (const Peer& peer : built_in_peers()) {
        EXPECT_TRUE(std::regex_match(peer.name, std::regex("[a-z0-9_]+"))) << peer.name;
        EXPECT_TRUE(names.insert(peer.name).second) << peer.name << " twice";
        EXPECT_FALSE(peer.description.empty() && peer.missing.empty());
        EXPECT_TRUE(peer.copy || !peer.missing.empty());
    }
    std::set<std::string> expected = {"byte_by_byte"};
    const std::set<std::string> of_x86 = {"rep_movsb",    "rep_movsq",     "copy_user",
                                          "avx",          "avx_streaming", "avx_streaming_prefetch",
                                          "avx_unrolled", "l1_buffer",     "prefetch_nt",
                                          "paper_xeon",   "paper_opteron", "paper_example"};
    const std::set<std::string> of_aarch64 = {"ldp_stp", "ldp_stnp"};
    expected.merge(std::set(kArchitecture == std::string("x86_64") ? of_x86 : of_aarch64));
    EXPECT_EQ(names, expected);
}
