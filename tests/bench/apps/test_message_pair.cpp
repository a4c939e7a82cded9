// Publisher and subscriber: messages arrive whole, and whoever dies, hangs or copies wrongly is
// named.
#include "bench/apps/message_pair.hpp"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "machine/affinity.hpp"
#include "timing/clock.hpp"
#include "timing/libc_copy.hpp"

using namespace asterope;

namespace {

constexpr std::size_t kMessage = 64 << 10;

/// Whether `part` is somewhere in `text`.
bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// libc's, which does what it should but for what those that derive from it do otherwise.
struct BadCopier : FunctionCopier {
    BadCopier() : FunctionCopier(libc_copy(), libc_copy(), 0) {}
};

struct ShortTake : BadCopier {
    void shared_to_user(void* user, const void* shared, std::size_t bytes) override {
        std::memcpy(user, shared, bytes - 1);
        static_cast<char*>(user)[bytes - 1] = 'x';
    }
};

/// The right words at wrong places: the sum does not show it.
struct SwappedTake : BadCopier {
    void shared_to_user(void* user, const void* shared, std::size_t bytes) override {
        std::memcpy(user, static_cast<const char*>(shared) + bytes / 2, bytes / 2);
        std::memcpy(static_cast<char*>(user) + bytes / 2, shared, bytes / 2);
    }
};

struct CrashingTake : BadCopier {
    void shared_to_user(void*, const void*, std::size_t) override { std::raise(SIGSEGV); }
};

struct CrashingPublish : BadCopier {
    void user_to_shared(void*, const void*, std::size_t) override {
        if (!at_start) std::raise(SIGILL);
        at_start = false;
    }
    bool at_start = true; ///< each process copies once before the first message
};

struct CrashingAtOnce : BadCopier {
    void user_to_shared(void*, const void*, std::size_t) override { std::raise(SIGSEGV); }
};

struct HangingTake : BadCopier {
    void shared_to_user(void*, const void*, std::size_t) override {
        for (;;) pause();
    }
};

struct WithoutMemory : BadCopier {
    void* alloc(std::size_t) override { return nullptr; }
};

MessagePair pair_of(Copier& copier, int patience_ms = 60'000) {
    start_clock(false);
    static FunctionCopier right(libc_copy(), libc_copy(), 0);
    const std::vector<int> cpus = allowed_cpus();
    return MessagePair({{"the right one", &right}, {"the other one", &copier}}, 4 * kMessage,
                       kMessage, cpus.back(), cpus.front(), patience_ms);
}

/// What is said when the second copier's turn comes after one of the first's.
std::string failure_of(Copier& copier, int patience_ms = 60'000) {
    try {
        MessagePair pair = pair_of(copier, patience_ms);
        pair.run(0, 2, 2);
        pair.run(1, 2, 2);
    } catch (const Failure& error) {
        return error.what();
    }
    return "no failure";
}

bool is_there(pid_t process) {
    return kill(process, 0) == 0;
}

} // namespace

TEST(MessagePair, messages_arrive_with_each_copier_and_take_time) {
    FunctionCopier other(libc_copy(), libc_copy(), 16);
    MessagePair pair = pair_of(other);
    for (const std::size_t copier : {0, 1, 1, 0}) {
        const MessageTimes times = pair.run(copier, 3, 6);
        for (const double part : {times.publish, times.take, times.read}) {
            EXPECT_GT(part, 0);
            EXPECT_LT(part, times.total);
        }
    }
}

TEST(MessagePair, one_cpu_is_enough) {
    start_clock(false);
    FunctionCopier copier(libc_copy(), libc_copy(), 0);
    const int cpu = allowed_cpus().front();
    MessagePair pair({{"it", &copier}}, kMessage, kMessage, cpu, cpu);
    EXPECT_GT(pair.run(0, 2, 2).total, 0);
}

TEST(MessagePair, a_message_that_arrives_changed_is_noticed) {
    ShortTake one_byte;
    EXPECT_TRUE(contains(failure_of(one_byte), "changed: the other one copies wrongly"));
    SwappedTake order;
    EXPECT_TRUE(contains(failure_of(order), "changed: the other one copies wrongly"));
}

TEST(MessagePair, whoever_dies_of_a_copy_is_named_with_the_signal) {
    CrashingTake take;
    const std::string taking = failure_of(take);
    EXPECT_TRUE(contains(taking, "the subscriber was ended by signal 11")) << taking;
    EXPECT_TRUE(contains(taking, "in a turn of the other one")) << taking;
    CrashingPublish publish;
    const std::string publishing = failure_of(publish);
    EXPECT_TRUE(contains(publishing, "the publisher was ended by signal 4")) << publishing;
    CrashingAtOnce at_once;
    const std::string early = failure_of(at_once);
    EXPECT_TRUE(contains(early, "was ended by signal 11")) << early;
    EXPECT_TRUE(contains(early, "before the first message")) << early;
    WithoutMemory without;
    const std::string ended = failure_of(without);
    EXPECT_TRUE(contains(ended, "the publisher ended with exit code 1")) << ended;
}

TEST(MessagePair, a_subscriber_or_publisher_that_was_killed_is_noticed) {
    FunctionCopier other(libc_copy(), libc_copy(), 0);
    for (const bool subscriber : {true, false}) {
        MessagePair pair = pair_of(other);
        kill(subscriber ? pair.subscriber() : pair.publisher(), SIGKILL);
        try {
            pair.run(0, 2, 1000000);
            FAIL() << "not noticed";
        } catch (const Failure& error) {
            EXPECT_TRUE(contains(error.what(), subscriber ? "the subscriber was ended by signal 9"
                                                          : "the publisher was ended by signal 9"))
                << error.what();
        }
    }
}

TEST(MessagePair, a_copy_that_never_ends_is_given_up) {
    HangingTake hanging;
    const std::string message = failure_of(hanging, 1000);
    EXPECT_TRUE(contains(message, "have not answered for 1 s in a turn of the other one"))
        << message;
}

TEST(MessagePair, leaves_no_process_behind) {
    FunctionCopier other(libc_copy(), libc_copy(), 0);
    pid_t publisher, subscriber;
    {
        MessagePair pair = pair_of(other);
        publisher = pair.publisher();
        subscriber = pair.subscriber();
        EXPECT_TRUE(is_there(publisher) && is_there(subscriber));
        EXPECT_NE(publisher, subscriber);
    }
    EXPECT_FALSE(is_there(publisher));
    EXPECT_FALSE(is_there(subscriber));
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1); // no child is left, not even a dead one
}

TEST(MessagePair, its_processes_die_with_the_one_that_started_them) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t middle = fork();
    if (middle == 0) {
        FunctionCopier other(libc_copy(), libc_copy(), 0);
        MessagePair pair = pair_of(other);
        const pid_t children[] = {pair.publisher(), pair.subscriber()};
        if (write(ends[1], children, sizeof children) < 0) _exit(1);
        raise(SIGKILL);
    }
    close(ends[1]);
    pid_t children[2];
    ASSERT_EQ(read(ends[0], children, sizeof children), static_cast<ssize_t>(sizeof children));
    waitpid(middle, nullptr, 0);
    // they hold the pipe's other end open as long as they live
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}
