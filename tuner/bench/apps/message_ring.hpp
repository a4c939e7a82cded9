// A ring of messages in shared memory: one process publishes, another takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "timing/fresh_memory.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// The header of a message. `ticks()` of the publisher and the subscriber are of one clock.
struct MessageHeader {
    std::uint64_t first; ///< of the Sequence that its bytes are
    std::uint64_t sum;   ///< of its words
    std::size_t bytes;
    /// The subscriber's: an address in the publisher. It holds in the subscriber, a fork, whose
    /// libraries lie at the same addresses.
    CopyFunction take;
    bool check_all; ///< the subscriber compares each word, untimed
    // The subscriber's receipt:
    std::uint64_t seen, copied, read; ///< ticks when each was done
    bool right;                       ///< whether the message arrived as it was sent
};

/// Slots of one size, used in turn, so that each message goes to the slot that was used longest
/// ago. Publisher and subscriber each move one counter; no other process writes it. One message is
/// under way at a time.
class MessageRing {
  public:
    /// Has as many slots as `ring_bytes` hold, at least one. Throws Failure where the memory does
    /// not suffice.
    MessageRing(std::size_t ring_bytes, std::size_t slot_bytes);

    std::size_t slots() const { return slots_; }
    /// The header of the slot that message `number` goes through.
    MessageHeader& header(std::uint64_t number) const;
    char* payload(std::uint64_t number) const;

    /// The publisher's: the number of the message that it hands over next.
    std::uint64_t to_publish() const;
    /// Hands it over, and waits until the subscriber has read it. `check_on_other` is called now
    /// and then meanwhile.
    void publish(const std::function<void()>& check_on_other);

    /// The subscriber's: waits for the next message and returns its number.
    std::uint64_t next();
    /// Gives the slot of that message back.
    void release();

    /// Takes the calling process's page faults now: a process that started after the memory was
    /// made has yet to map each page. No other process may write the ring meanwhile.
    void touch() const;

  private:
    // on a line each: they are written by different processes
    struct alignas(128) Counter {
        std::atomic<std::uint64_t> value;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free); // a lock would be one process's
    struct Counters {
        Counter published, released;
    };

    Counters& counters() const { return *reinterpret_cast<Counters*>(memory_.begin()); }
    std::size_t slot_bytes_, slots_, headers_at_, payload_at_;
    FreshMemory memory_; ///< shared
};

} // namespace asterope
