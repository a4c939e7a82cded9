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

Copier right() {
    return {"the right one", libc_copy()};
}
Copier taking(CopyFunction copy) {
    return {"the other one", libc_copy(), copy};
}

/// On two CPUs, where there are two.
std::optional<MessagePair> pair;
MessagePair& pair_of(const Copier& copier) {
    start_clock(false);
    pair.reset();
    return pair.emplace(std::vector{right(), copier}, 4 * kMessage, kMessage,
                        allowed_cpus().front());
}

/// What is said when the second copier's turn comes after one of the first's.
std::string failure_of(const Copier& copier) {
    return refusal_of<Failure>(
        [&] {
            MessagePair& pair = pair_of(copier);
            pair.run("the right one", 2, 2);
            pair.run(copier.name, 2, 2);
        },
        "no failure");
}

} // namespace

TEST(MessagePair, messages_arrive_with_each_copier_and_take_time) {
    MessagePair& pair = pair_of({"the other one", libc_copy()});
    for (const char* copier : {"the right one", "the other one", "the right one"}) {
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
    constexpr CopyFunction crash = spoiled<[](Asked) { std::raise(SIGSEGV); }>;
    const std::pair<Copier, const char*> faults[] = {
        {taking(spoiled<[](Asked a) { a.to[a.bytes - 1] = 'x'; }>),
         "changed: the other one copies wrongly"},
        {taking(swap_halves), "changed: the other one copies wrongly"},
        {taking(crash), "the subscriber was ended by signal 11"},
        {taking(crash), "in a turn of the other one"},
        {taking(spoiled<[](Asked) { _exit(1); }>),
         "the subscriber ended with exit code 1 in a turn of the other one"},
    };
    for (const auto& [copier, part] : faults) {
        EXPECT_TRUE(mentions(failure_of(copier), part));
    }
}

TEST(MessagePair, a_subscriber_that_was_killed_is_noticed) {
    MessagePair& pair = pair_of(right());
    kill(pair.subscriber(), SIGKILL);
    EXPECT_TRUE(mentions(refusal_of<Failure>([&] { pair.run("the right one", 2, 1000000); }),
                         "the subscriber was ended by signal 9"));
}
