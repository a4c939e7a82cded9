// Publisher and subscriber: messages arrive whole, and a copy that crashes or is wrong is named.
#include "bench/apps/message_pair.hpp"

#include <csignal>
#include <unistd.h>

#include "machine/affinity.hpp"
#include "space/spoiled_copies.hpp"
#include "support/unit_test.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

namespace {

constexpr std::size_t kMessage = 64 << 10;

const Copier kRight{"the right one", libc_copy()};

/// On two CPUs, where there are two.
MessagePair new_pair() {
    start_clock(false);
    return MessagePair(4 * kMessage, kMessage, allowed_cpus().front());
}

/// The error when the second copier's turn comes after one of the first's.
std::string failure_of(CopyFunction taking) {
    return refusal_of<Failure>(
        [&] {
            MessagePair pair = new_pair();
            pair.run(kRight, 2, 2);
            pair.run({"the other one", libc_copy(), taking}, 2, 2);
        },
        "no failure");
}

} // namespace

TEST(MessagePair, messages_arrive_with_each_copier_and_take_time) {
    MessagePair pair = new_pair();
    for (const Copier& copier : {kRight, Copier{"the other one", libc_move()}, kRight}) {
        const MessageTimes times = pair.run(copier, 3, 6);
        for (const double part : {times.publish, times.take, times.read}) {
            EXPECT_GT(part, 0);
            EXPECT_LT(part, times.total);
        }
    }
}

TEST(MessagePair, names_the_copier_that_changes_a_message_and_in_whose_turn_the_other_ends) {
    // the right words at wrong places: the sum does not show it
    constexpr CopyFunction swap_halves = spoiled<[](Asked a) {
        std::memcpy(a.to, a.from + a.bytes / 2, a.bytes / 2);
        std::memcpy(a.to + a.bytes / 2, a.from, a.bytes / 2);
    }>;
    const std::pair<CopyFunction, const char*> faults[] = {
        {spoiled<[](Asked a) { a.to[a.bytes - 1] = 'x'; }>,
         "changed: the other one copies wrongly"},
        {swap_halves, "changed: the other one copies wrongly"},
        {spoiled<[](Asked) { std::raise(SIGSEGV); }>,
         "was ended by signal 11 (Segmentation fault) in a turn of the other one"},
        {spoiled<[](Asked) { _exit(1); }>,
         "the subscriber ended with exit code 1 in a turn of the other one"},
    };
    for (const auto& [copy, part] : faults) EXPECT_TRUE(mentions(failure_of(copy), part));
}

TEST(MessagePair, a_subscriber_that_was_killed_is_noticed) {
    MessagePair pair = new_pair();
    kill(pair.subscriber(), SIGKILL);
    EXPECT_TRUE(mentions(refusal_of<Failure>([&] { pair.run(kRight, 2, 1000000); }),
                         "the subscriber was ended by signal 9"));
}
