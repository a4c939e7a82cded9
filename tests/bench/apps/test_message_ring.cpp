// The slots of the ring of messages. That either side waits for the other, the pair's tests show.
#include "bench/apps/message_ring.hpp"

#include "support/unit_test.hpp"

TEST(MessageRing, has_as_many_slots_as_fit_and_at_least_one) {
    EXPECT_EQ(MessageRing(1 << 20, 1 << 16).slots(), 16u);
    EXPECT_EQ(MessageRing((1 << 20) - 1, 1 << 16).slots(), 15u);
    EXPECT_EQ(MessageRing(1000, 1 << 16).slots(), 1u);
    EXPECT_EQ(MessageRing(1 << 20, 8).slots(), 256u) << "each begins at a page";
}

TEST(MessageRing, slots_do_not_overlap_and_are_used_in_turn) {
    constexpr std::size_t kSlot = 5000; // no whole number of pages
    MessageRing ring(4 * 8192, kSlot);
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
