// Peers: each copies right at every size and misalignment, alone and over threads, and who is not
// there is named.
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "bench/peers/threads.hpp"
#include "timing/arena.hpp"

extern "C" {
#include "routine/copy_check.h"
}

using namespace asterope;

namespace {

constexpr std::size_t kLargest = 8 << 20;

copy_subject subject_of(const Peer& peer) {
    return {peer.name.c_str(), peer.copy, {0, 0}, 0, false, nullptr};
}

class EveryPeer : public ::testing::TestWithParam<Peer> {
  protected:
    static void SetUpTestSuite() {
        static const bool once = [] {
            copy_check_start(kLargest + 64);
            return true;
        }();
        EXPECT_TRUE(once);
    }
};

const Peer* find(const std::vector<Peer>& peers, const std::string& name) {
    const auto found = std::find_if(peers.begin(), peers.end(),
                                    [&](const Peer& peer) { return peer.name == name; });
    return found == peers.end() ? nullptr : &*found;
}

/// Remembers how many of its calls were under way at once.
std::atomic<int> calls_under_way, most_at_once;
void* counted_copy(void* destination, const void* source, std::size_t bytes, std::size_t) {
    const int now = ++calls_under_way;
    for (int most = most_at_once; most < now && !most_at_once.compare_exchange_weak(most, now);) {
    }
    // until the others have come: they must all be under way at the same time
    while (most_at_once < 2) std::this_thread::yield();
    std::copy_n(static_cast<const char*>(source), bytes, static_cast<char*>(destination));
    --calls_under_way;
    return destination;
}

} // namespace

TEST_P(EveryPeer, copies_right_at_every_size_and_misalignment) {
    const copy_subject subject = subject_of(GetParam());
    // odd: every size meets all offsets of either side, and all differences of the two
    EXPECT_TRUE(copy_check_offsets(&subject, 0, 1024, 7));
}

TEST_P(EveryPeer, touches_nothing_beside_its_buffers) {
    const copy_subject subject = subject_of(GetParam());
    EXPECT_TRUE(copy_check_guards(&subject, 0, 300));
    EXPECT_TRUE(copy_check_page_ends(&subject, 3));
}

TEST_P(EveryPeer, copies_right_around_all_powers_of_two) {
    const copy_subject subject = subject_of(GetParam());
    EXPECT_TRUE(copy_check_doubling(&subject, 1024, kLargest));
}

TEST_P(EveryPeer, leaves_the_upper_vector_halves_clean) {
    if (!copy_check_sees_dirty_halves()) GTEST_SKIP() << "not to be seen on this CPU";
    std::vector<char> from(100000), to(from.size());
    for (const std::size_t bytes : {std::size_t{40}, std::size_t{1000}, from.size()}) {
        std::uint32_t in_use, high;
        __asm__ volatile("vzeroupper");
        GetParam().copy(to.data(), from.data(), bytes, 0);
        __asm__ volatile("xgetbv" : "=a"(in_use), "=d"(high) : "c"(1)); // see copy_check.c
        EXPECT_EQ(in_use & 4, 0u) << bytes << " bytes";
    }
}

INSTANTIATE_TEST_SUITE_P(, EveryPeer, ::testing::ValuesIn(built_in_peers()),
                         [](const auto& tested) { return tested.param.name; });

TEST(Peers, are_either_there_or_missing_and_each_has_a_name_of_its_own) {
    std::set<std::string> names;
    for (const Peer& peer : built_in_peers()) {
        EXPECT_TRUE(std::regex_match(peer.name, std::regex("[a-z0-9_]+"))) << peer.name;
        EXPECT_TRUE(names.insert(peer.name).second) << peer.name << " twice";
        EXPECT_FALSE(peer.description.empty());
        EXPECT_EQ(peer.threaded, peer.name.find("_threads") != std::string::npos);
        EXPECT_EQ(peer.least, peer.threaded ? 32768u : 0u);
    }
    for (const MissingPeer& peer : missing_peers()) {
        EXPECT_TRUE(names.insert(peer.name).second) << peer.name << " is there and missing";
        EXPECT_FALSE(peer.reason.empty());
    }
    for (const char* name : {"byte_by_byte",
                             "byte_by_byte_threads",
                             "rep_movsb",
                             "rep_movsb_threads",
                             "rep_movsq",
                             "rep_movsq_threads",
                             "avx",
                             "avx_threads",
                             "avx_streaming",
                             "avx_streaming_threads",
                             "avx_streaming_prefetch",
                             "avx_streaming_prefetch_threads",
                             "avx_unrolled",
                             "avx_unrolled_threads",
                             "l1_buffer",
                             "prefetch_nt",
                             "paper_xeon",
                             "paper_opteron",
                             "musl",
                             "dietlibc",
                             "folly",
                             "dpdk_sse",
                             "dpdk_avx2",
                             "dpdk_avx512"}) {
        EXPECT_EQ(names.count(name), 1u) << name;
    }
}

TEST(PeersOverThreads, copy_in_several_threads_at_once) {
    std::vector<char> from(256 << 10), to(from.size());
    fill_with_data(from.data(), from.size());
    calls_under_way = most_at_once = 0;
    peers::copy_over_threads(counted_copy, to.data(), from.data(), from.size());
    EXPECT_GE(most_at_once, 2);
    EXPECT_EQ(calls_under_way, 0);
    EXPECT_EQ(to, from);
}

TEST(PeersOverThreads, copy_alone_below_the_least_size) {
    std::vector<char> from(peers::kLeastOverThreads - 1), to(from.size());
    fill_with_data(from.data(), from.size());
    calls_under_way = 0;
    most_at_once = 2; // nobody to wait for
    static thread_local std::size_t bytes_here;
    bytes_here = 0;
    const CopyFunction copy = [](void* d, const void* s, std::size_t bytes, std::size_t) {
        bytes_here += bytes;
        return counted_copy(d, s, bytes, 0);
    };
    peers::copy_over_threads(copy, to.data(), from.data(), from.size());
    EXPECT_EQ(bytes_here, from.size());
    EXPECT_EQ(to, from);
}

TEST(PeersOverThreads, copy_right_where_two_threads_call_them_at_once) {
    const Peer* peer = nullptr;
    const std::vector<Peer> all = built_in_peers();
    ASSERT_TRUE(peer = find(all, "rep_movsb_threads"));
    const auto copy_often = [&](std::size_t bytes, bool& right) {
        std::vector<char> from(bytes), to(bytes);
        fill_with_data(from.data(), bytes);
        right = true;
        for (int i = 0; i < 500; ++i) {
            std::fill(to.begin(), to.end(), 0);
            right = right && peer->copy(to.data(), from.data(), bytes, 0) == to.data();
            right = right && to == from;
        }
    };
    bool rights[3] = {};
    std::thread one(copy_often, 40000, std::ref(rights[0]));
    std::thread two(copy_often, 70001, std::ref(rights[1]));
    copy_often(131072, rights[2]);
    one.join();
    two.join();
    for (const bool right : rights) EXPECT_TRUE(right);
}

TEST(PeersOverThreads, copy_right_in_a_child_whose_parent_has_the_threads) {
    const std::vector<Peer> all = built_in_peers();
    const Peer* peer = find(all, "rep_movsb_threads");
    ASSERT_TRUE(peer);
    std::vector<char> from(100000), to(from.size());
    fill_with_data(from.data(), from.size());
    peer->copy(to.data(), from.data(), from.size(), 0);
    ASSERT_EQ(to, from);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(60); // a child that waits for threads that it has not got waits forever
        std::fill(to.begin(), to.end(), 0);
        peer->copy(to.data(), from.data(), from.size(), 0);
        _exit(to == from ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}
