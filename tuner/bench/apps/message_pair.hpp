// Two processes that pass messages through shared memory, with one copier or another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "bench/apps/copier.hpp"
#include "bench/apps/message_ring.hpp"

namespace asterope {

/// Seconds that one message takes, each the median of those of a turn: now and then a message waits
/// for a process that the system has interrupted.
struct MessageTimes {
    double publish; ///< the publisher's copy into the ring
    double take;    ///< the subscriber's copy out of it, its allocation included
    double read;    ///< the subscriber's reading of what it has
    double total;   ///< from the beginning of the publisher's copy to the end of the reading
};

/// A publisher and a subscriber, each a process of its own, started from this one.
///
/// For each message, the publisher writes its data anew into the user's memory, as a camera's
/// driver would (untimed), copies it into the next slot and hands it over; the subscriber allocates
/// memory, copies the message into it, reads all of it and compares its sum. The next message is
/// written when this one has been read: what is timed is how long a message takes, not how many are
/// under way.
class MessagePair {
  public:
    struct Named {
        std::string name; ///< for errors
        Copier* copier;
    };

    /// Starts both, the publisher on the first of the two CPUs, the subscriber on the second. The
    /// clock has been started, on the system's clock, which all CPUs agree on. Throws Failure where
    /// that is impossible, and where neither answers for that many milliseconds, then or later.
    MessagePair(std::vector<Named> copiers, std::size_t ring_bytes, std::size_t message_bytes,
                int publisher_cpu, int subscriber_cpu, int patience_ms = 60'000);
    /// Ends both.
    ~MessagePair();
    MessagePair(const MessagePair&) = delete;
    MessagePair& operator=(const MessagePair&) = delete;

    /// Passes messages with the copier of that index: first as many as settle the caches after
    /// whoever came before, which are compared word for word and not timed, then those that are
    /// timed. No two messages have the same data. Throws Failure where a message arrives changed,
    /// and where a process has died or hangs, Interrupted where a signal came.
    MessageTimes run(std::size_t copier, unsigned settling, unsigned timed);

    pid_t publisher() const { return publisher_.pid; }
    pid_t subscriber() const { return subscriber_.pid; }

  private:
    struct Process {
        pid_t pid = -1;
        int answers = -1; ///< a pipe; at its end, the process has died
    };
    struct Order {
        std::size_t copier;
        unsigned settling, timed;
        std::uint64_t turn;
    };
    struct Answer {
        MessageTimes times;
        bool right;
    };

    /// A process that does `work(its end of the pipe of answers)`, and nothing afterwards.
    template <class Work> Process start(int cpu, const Work& work);
    void subscribe();
    void publish(int orders, int answers);
    Answer pass(const Order& order, Copier& copier, void* user);
    void wait_for_answer(Process& process, void* answer, std::size_t bytes);
    [[noreturn]] void fail_for(Process& process);
    void end();

    std::vector<Named> copiers_;
    std::size_t message_bytes_;
    MessageRing ring_;
    Process publisher_, subscriber_;
    int orders_ = -1; ///< a pipe to the publisher
    int patience_ms_;
    std::uint64_t turns_ = 0;
    std::string doing_; ///< what was asked for last, for errors
};

} // namespace asterope
