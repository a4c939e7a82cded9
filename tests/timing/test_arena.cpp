// The memory that copies are timed in: large enough, small enough, and every page is mapped.
#include "timing/arena.hpp"

#include <sys/mman.h>

#include "support/unit_test.hpp"
#include "timing/fresh_memory.hpp"

namespace {

Machine machine(std::size_t usable_bytes, std::size_t last_cache) {
    Machine machine;
    machine.usable_bytes = usable_bytes;
    machine.memory_bytes = 2 * usable_bytes;
    machine.caches = {{1, "data", 32768, 64, 8, 1}, {3, "unified", last_cache, 64, 16, 2}};
    return machine;
}

bool all_pages_are_there(const char* begin, std::size_t bytes) {
    std::vector<unsigned char> resident(bytes / page_size());
    EXPECT_EQ(mincore(const_cast<char*>(begin), bytes, resident.data()), 0);
    return std::ranges::all_of(resident, [](unsigned char flag) { return flag & 1; });
}

} // namespace

TEST(Arena, has_two_aligned_areas_apart_whose_every_page_is_touched_before_anything_is_timed) {
    const Arena arena(5 * kMiB);
    EXPECT_EQ(arena.bytes(), 6 * kMiB);
    for (const char* area : {arena.source(), static_cast<const char*>(arena.destination())}) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(area) % (2 * kMiB), 0u);
        EXPECT_TRUE(all_pages_are_there(area, arena.bytes()));
    }
    EXPECT_GE(std::abs(arena.destination() - arena.source()),
              static_cast<std::ptrdiff_t>(arena.bytes()));
    arena.writable_source()[arena.bytes() - 1] = arena.destination()[arena.bytes() - 1] = 1;
    EXPECT_EQ(arena.writable_source(), arena.source());
    EXPECT_EQ(arena.source_bytes(), arena.bytes());
    EXPECT_FALSE(arena.maps_source());
}

using MappedArena = TemporaryFolder;

TEST_F(MappedArena, has_the_map_for_its_source_and_memory_for_its_destination) {
    put("map", std::string(kMiB + 100, 'm'));
    const SourceMap map((folder / "map").string(), 128);
    const Arena arena(3 * kMiB, map);
    EXPECT_EQ(arena.source(), map.data());
    EXPECT_EQ(arena.source_bytes(), kMiB + 100);
    EXPECT_EQ(arena.bytes(), 4 * kMiB);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.destination()) % (2 * kMiB), 0u);
    EXPECT_TRUE(all_pages_are_there(arena.destination(), arena.bytes()));
    EXPECT_TRUE(arena.maps_source());
    EXPECT_THROW(arena.writable_source(), Failure);
    arena.destination()[arena.bytes() - 1] = 1;
}

TEST(Arena, holds_no_zeros) {
    const Arena arena(2 * kMiB);
    for (const char* area : {arena.source(), static_cast<const char*>(arena.destination())}) {
        std::set<std::string> lines;
        for (std::size_t i = 0; i < arena.bytes(); i += 64) lines.emplace(area + i, 64);
        EXPECT_EQ(lines.size(), arena.bytes() / 64); // no two the same
        EXPECT_EQ(lines.count(std::string(64, '\0')), 0u);
    }
}

TEST(ArenaBytes, go_by_the_last_cache_the_largest_copies_and_the_memory) {
    constexpr std::size_t kMuch = 64 * kGiB;
    const struct {
        std::size_t largest, usable, cache, least, most;
    } cases[] = {
        // four times the cache, and half as much for walks
        {128, kMuch, 128 * kMiB, 6 * 128 * kMiB + 2 * 128, 6 * 128 * kMiB + 2 * 128},
        // eight of the largest copies, half as much, and room for the hot ones
        {64 * kMiB, kMuch, 32 * kMiB, 14 * 64 * kMiB, 14 * 64 * kMiB},
        {128, kMuch, kMiB, 256 * kMiB, kGiB},
        // both sides stay within 3 GiB, and leave half of a small memory, of which sources in
        // pages of their own may take half
        {32 * kMiB, kGiB << 10, 480 * kMiB, kGiB, 3 * kGiB / 2},
        {400 * kMiB, kGiB << 10, 480 * kMiB, kGiB, 3 * kGiB / 2},
        {32 * kMiB, 600 * kMiB, 480 * kMiB, 150 * kMiB, 150 * kMiB},
        {128, 0, 480 * kMiB, 1, kGiB / 4}, // not even the memory is known
    };
    for (const auto& [largest, usable, cache, least, most] : cases) {
        const std::size_t bytes = arena_bytes(largest, machine(usable, cache));
        EXPECT_GE(bytes, least) << largest << ' ' << usable;
        EXPECT_LE(bytes, most) << largest << ' ' << usable;
    }
}

// Three times the last ones is a small number again, modulo 2^64.
TEST(ArenaBytes, refuse_copies_that_do_not_fit) {
    EXPECT_THROW(arena_bytes(32 * kMiB, machine(100 * kMiB, 32 * kMiB)), Failure);
    EXPECT_THROW(arena_bytes(128, machine(kMiB, 32 * kMiB)), Failure);
    Machine full = machine(0, 32 * kMiB); // nothing of its memory is left
    full.memory_bytes = 3 * kGiB;
    EXPECT_THROW(arena_bytes(128, full), Failure);
    for (const std::size_t size : {kGiB, 6148914691236517206u, 12297829382473034411u,
                                   ~std::size_t{0}, std::size_t{1} << 63}) {
        EXPECT_THROW(arena_bytes(size, machine(64 * kGiB, 32 * kMiB)), Failure) << size;
    }
}
