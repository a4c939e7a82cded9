// Two processes that pass messages through shared memory, with one pair of copy functions or
// another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "bench/apps/message_ring.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// How a publisher and a subscriber copy, as shadesmar's copiers do
/// (github.com/Squadrick/shadesmar, memory/copier.h): all copies of messages go through it.
struct Copier {
    std::string name;
    CopyFunction publish;        ///< the publisher's: its message into shared memory
    CopyFunction take = publish; ///< the subscriber's: a message out of it
};

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
    /// Starts both, the publisher on the first of the two CPUs, the subscriber on the second. The
    /// clock has been started, on the system's clock, which all CPUs agree on. Throws Failure where
    /// that is impossible, and where neither answers for that many milliseconds, then or later.
    MessagePair(std::vector<Copier> copiers, std::size_t ring_bytes, std::size_t message_bytes,
                int publisher_cpu, int subscriber_cpu, int patience_ms = 60'000);

    /// Passes messages with the copier of that name: first as many as settle the caches after
    /// the copier before, which are compared word for word and not timed, then those that are
    /// timed. No two messages have the same data. Throws Failure where a message arrives changed,
    /// and where a process has died or hangs, Interrupted where a signal came.
    MessageTimes run(const std::string& copier, unsigned settling, unsigned timed);

    pid_t publisher() const { return publisher_->pid(); }
    pid_t subscriber() const { return subscriber_->pid(); }

  private:
    struct Order {
        std::size_t copier;
        unsigned settling, timed;
        std::uint64_t turn;
    };
    struct Answer {
        MessageTimes times;
        bool right;
    };

    void set_up_child(int cpu, int answers);
    void subscribe();
    void publish(int orders, int answers);
    Answer pass(const Order& order, const Copier& copier, void* user);
    void wait_for_answer(ChildProcess& process, void* answer, std::size_t bytes);
    [[noreturn]] void fail_for(ChildProcess& process);

    std::vector<Copier> copiers_;
    std::size_t message_bytes_;
    MessageRing ring_;
    Descriptor orders_; ///< a pipe to the publisher
    std::optional<ChildProcess> publisher_, subscriber_;
    int patience_ms_;
    std::uint64_t turns_ = 0;
    std::string doing_ = "before the first message"; ///< what was asked for last, for errors
};

} // namespace asterope
