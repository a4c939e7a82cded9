// How the areas are filled, touched and sized. Their source side may be a mapped file instead.
#include "timing/arena.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <utility>

#include "base/error.hpp"
#include "base/size_text.hpp"

namespace asterope {

namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMiB = std::size_t{1} << 20;
} // namespace

void fill_with_data(char* begin, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; i += sizeof value) {
        value += 0x9E3779B97F4A7C15u; // multiples of the golden ratio: no byte stays 0
        std::memcpy(begin + i, &value, std::min(sizeof value, bytes - i));
    }
}

Arena::Arena(std::size_t bytes_a_side, std::optional<SourceMap> source_map)
    : source_map_(std::move(source_map)),
      bytes_((bytes_a_side + kHugePage - 1) / kHugePage * kHugePage),
      memory_((source_map_ ? bytes_ : 2 * bytes_) + kHugePage) {
    const std::size_t areas = memory_.bytes() - kHugePage;
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.begin());
    char* begin = memory_.begin() + (kHugePage - address % kHugePage) % kHugePage;
    madvise(begin, areas, MADV_HUGEPAGE); // refused on kernels without it
    fill_with_data(begin, areas);
    // The pages are touched a second time. Some hosts give a guest its memory at the first use.
    // There one in seven of the filled huge pages took another 120 us at its next access. Samples
    // of one cold call each met that.
    touch_pages(begin, areas);
    source_ = source_map_ ? source_map_->data() : begin;
    destination_ = source_map_ ? begin : begin + bytes_;
}

char* Arena::writable_source() const {
    if (source_map_) throw Failure("the source is mapped from a file: it can only be read");
    return destination_ - bytes_;
}

void Arena::touch() const {
    touch_pages(destination_, bytes_, kHugePage);
    if (!maps_source()) touch_pages(writable_source(), bytes_, kHugePage);
}

namespace {

/// The most bytes that a side may take. The sources in pages of their own (SourcePages) take half
/// of that at most, for each of two kinds of pages. So a quarter of the memory stays free.
std::size_t most_bytes(const Machine& machine) {
    return std::min(1280 * kMiB, usable_memory(machine) / 4);
}

} // namespace

bool has_room_for(std::size_t size, const Machine& machine) {
    return size <= most_bytes(machine) / 4;
}

std::size_t arena_bytes(std::size_t largest_size, const Machine& machine) {
    const std::size_t last_cache = last_cache_bytes(machine);
    const std::size_t most = most_bytes(machine);
    // This divides instead of multiplying: any size may come in here, and 3 * 2^63 overflows.
    if (most < kMiB || largest_size > (most - kMiB) / 3) {
        throw Failure("no memory for the buffers: copies of " + format_size(largest_size) +
                      " need more than the " + std::to_string(2 * most / kMiB) +
                      " MiB that may be taken; name smaller --sizes");
    }
    const std::size_t wanted =
        std::max({4 * last_cache, 8 * largest_size, 256 * kMiB}) / 2 * 3 + 2 * largest_size;
    return std::min(wanted, most);
}

} // namespace asterope
