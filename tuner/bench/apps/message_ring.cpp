// Two counters, of published and of released messages, tell each process when to go on.
#include "bench/apps/message_ring.hpp"

#include <algorithm>
#include <new>
#include <sched.h>

#include "bench/apps/user_buffer.hpp"
#include "machine/cpu.hpp"

namespace asterope {

namespace {

// No two headers share a line, nor a pair of lines, as CPUs may fetch both lines of a pair.
constexpr std::size_t kHeaderStride = 128;
static_assert(sizeof(MessageHeader) <= kHeaderStride);

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// Looks a while, then lets others run between two looks. With one CPU for both processes, the
/// other one can only then do the awaited work. A futex would cost either side a system call for
/// every message, and the subscriber its wake-up, tens of microseconds on a virtual machine.
template <class Done>
void wait_for(const Done& done, const std::function<void()>& check_on_other = {}) {
    for (unsigned looks = 0; !done(); ++looks) {
        relax();
        if (looks >= 200) sched_yield();
        if (looks % 4096 == 4095 && check_on_other) check_on_other();
    }
}

} // namespace

MessageRing::MessageRing(std::size_t ring_bytes, std::size_t slot_bytes)
    : slot_bytes_(whole_pages(slot_bytes)),
      slots_(std::max<std::size_t>(1, ring_bytes / slot_bytes_)),
      headers_at_(whole_pages(sizeof(Counters))),
      payload_at_(headers_at_ + whole_pages(slots_ * kHeaderStride)),
      memory_(payload_at_ + slots_ * slot_bytes_, FreshMemory::shared) {
    new (memory_.begin()) Counters{};
    for (std::size_t i = 0; i < slots_; ++i) {
        new (memory_.begin() + headers_at_ + i * kHeaderStride) MessageHeader{};
    }
}

void MessageRing::touch() const {
    touch_pages(memory_.begin(), memory_.bytes());
}

MessageHeader& MessageRing::header(std::uint64_t number) const {
    return *reinterpret_cast<MessageHeader*>(memory_.begin() + headers_at_ +
                                             number % slots_ * kHeaderStride);
}

char* MessageRing::payload(std::uint64_t number) const {
    return memory_.begin() + payload_at_ + number % slots_ * slot_bytes_;
}

std::uint64_t MessageRing::to_publish() const {
    return counters().published.value.load(std::memory_order_relaxed);
}

void MessageRing::publish(const std::function<void()>& check_on_other) {
    const std::uint64_t published =
        counters().published.value.fetch_add(1, std::memory_order_release) + 1;
    wait_for([&] { return counters().released.value.load(std::memory_order_acquire) == published; },
             check_on_other);
}

std::uint64_t MessageRing::next() {
    const std::uint64_t number = counters().released.value.load(std::memory_order_relaxed);
    wait_for([&] { return counters().published.value.load(std::memory_order_acquire) != number; });
    return number;
}

void MessageRing::release() {
    counters().released.value.fetch_add(1, std::memory_order_release);
}

} // namespace asterope
