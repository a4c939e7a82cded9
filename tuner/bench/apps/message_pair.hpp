// Two processes that pass messages through shared memory, with one pair of copy functions or
// another.
#pragma once

#include <cstddef>
#include <string>

#include "base/child_process.hpp"
#include "base/random.hpp"
#include "bench/apps/message_ring.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// The copy functions of a publisher and a subscriber, as shadesmar's copiers are
/// (github.com/Squadrick/shadesmar, memory/copier.h). All copies of messages go through it.
struct Copier {
    std::string name;
    CopyFunction publish;        ///< the publisher's: its message into shared memory
    CopyFunction take = publish; ///< the subscriber's: a message out of it
};

/// Seconds that the parts of one message take, each the median of a copier's turn. The mean would
/// count messages that wait for a process that the system has interrupted.
struct MessageTimes {
    double publish; ///< The publisher's copy into the ring.
    double take;    ///< The subscriber's copy out of it, its allocation included.
    double read;    ///< The subscriber's reading of the message.
    double total;   ///< From the beginning of the publisher's copy to the end of the reading.
};

/// A publisher, which is this process, and a subscriber, which it starts. The subscriber
/// has the copies that were loaded before.
///
/// For each message, the publisher writes its data anew into the user's memory, as a camera's
/// driver would (untimed). It copies the data into the next slot and hands it over. The subscriber
/// allocates memory, copies the message into it, reads all of it and compares its sum. The next
/// message waits until this one has been read, so that latency is timed, not throughput.
class MessagePair {
  public:
    /// Starts the subscriber on that CPU and waits until it is ready. Throws Failure where memory
    /// does not suffice or the subscriber cannot be started. Call start_clock(false) before, as all
    /// CPUs agree on the system's clock alone.
    MessagePair(std::size_t ring_bytes, std::size_t message_bytes, int subscriber_cpu);

    /// Passes messages with that copier. The first `settling` messages remove the previous copier's
    /// effect on the caches. They are compared word for word, not timed. The timed ones follow. All
    /// messages have different data. Throws Failure if a message arrives changed or the subscriber
    /// has died, and Interrupted after a signal. Hangs if the subscriber does, see run_watched().
    MessageTimes run(const Copier& copier, unsigned settling, unsigned timed);

    pid_t subscriber() const { return subscriber_.pid(); }

  private:
    /// Says in `answers` that messages may come. Runs until the kernel kills this process, as it
    /// does when the publisher ends.
    void subscribe(int cpu, int answers);
    /// Throws Failure where the subscriber has ended.
    void require_subscriber(const std::string& copier);

    std::size_t message_bytes_;
    MessageRing ring_;
    ChildProcess subscriber_;
    RandomStream random_{1};
};

} // namespace asterope
