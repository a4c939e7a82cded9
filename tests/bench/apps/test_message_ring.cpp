// The ring of messages: its slots, its order, and that either side waits for the other.
#include "bench/apps/message_ring.hpp"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "support/unit_test.hpp"

TEST(MessageRing, has_as_many_slots_as_fit_and_at_least_one) {
    EXPECT_EQ(MessageRing(1 << 20, 1 << 16).slots(), 16u);
    EXPECT_EQ(MessageRing((1 << 20) - 1, 1 << 16).slots(), 15u);
    EXPECT_EQ(MessageRing(1000, 1 << 16).slots(), 1u);
}

TEST(MessageRing, slots_do_not_overlap_and_are_used_in_turn) {
    constexpr std::size_t kSlot = 5000; // no whole number of pages
    MessageRing ring(4 * kSlot, kSlot);
    ASSERT_EQ(ring.slots(), 4u);
    for (std::uint64_t i = 0; i < 4; ++i) {
        std::memset(ring.payload(i), static_cast<int>('a' + i), kSlot);
        ring.header(i).first = i;
    }
    for (std::uint64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(ring.payload(i)[0], static_cast<char>('a' + i));
        EXPECT_EQ(ring.payload(i)[kSlot - 1], static_cast<char>('a' + i));
        EXPECT_EQ(ring.header(i).first, i);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ring.payload(i)) % 4096, 0u);
        EXPECT_EQ(ring.payload(i + 4), ring.payload(i));
        EXPECT_EQ(&ring.header(i + 4), &ring.header(i));
    }
}

// With two slots, either side would overrun the other at once if it did not wait.
TEST(MessageRing, messages_come_in_order_and_neither_side_overruns_the_other) {
    MessageRing ring(2 * 4096, 4096);
    constexpr std::uint64_t kMessages = 20000;
    std::thread subscriber([&] {
        for (std::uint64_t i = 0; i < kMessages; ++i) {
            const std::uint64_t number = ring.next();
            EXPECT_EQ(number, i);
            EXPECT_EQ(ring.header(number).first, i * 3);
            EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(ring.payload(number)), i * 7);
            ring.release();
        }
    });
    for (std::uint64_t i = 0; i < kMessages; ++i) {
        const std::uint64_t number = ring.to_publish();
        EXPECT_EQ(number, i);
        ring.header(number).first = i * 3;
        *reinterpret_cast<std::uint64_t*>(ring.payload(number)) = i * 7;
        ring.publish(nullptr);
    }
    subscriber.join();
}
