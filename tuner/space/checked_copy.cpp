// Buffers hold a pattern and canaries. Each byte is compared with the one that a right copy leaves.
#include "space/checked_copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/text.hpp"

namespace asterope {

namespace {

constexpr std::size_t kCanary = 256; ///< more than any stage writes at once; whole lines
constexpr std::uint8_t kUntouched = 0xA5;
constexpr std::array<std::size_t, 9> kOffsets = {0, 1, 7, 8, 15, 16, 31, 32, 63};

/// Where source and destination lie, counted from a line boundary.
struct Offsets {
    std::size_t source, destination;
};
constexpr std::array<Offsets, 4> kFewOffsets = {{{0, 0}, {1, 63}, {63, 1}, {32, 17}}};

/// The shifts of large buffers: about every register, block and page.
constexpr std::array<std::ptrdiff_t, 24> kFewShifts = {1,   2,   8,   15,  16,  17,   31,   32,
                                                       33,  63,  64,  65,  127, 128,  129,  255,
                                                       256, 257, 511, 512, 513, 4095, 4096, 4097};

/// Deterministic bytes that no shift of themselves equals.
std::uint8_t pattern(std::size_t i) {
    return static_cast<std::uint8_t>((i * 2654435761u) >> 11);
}

/// Memory from a line boundary on.
class Room {
  public:
    explicit Room(std::size_t bytes) : memory_(bytes + 64) {}
    std::uint8_t* begin() {
        return memory_.data() + -reinterpret_cast<std::uintptr_t>(memory_.data()) % 64;
    }

  private:
    std::vector<std::uint8_t> memory_;
};

/// Buffers for functions of up to `largest` bytes.
class Checker {
  public:
    explicit Checker(std::size_t largest)
        : largest_(largest), bytes_(largest + kFewShifts.back() + 64 + 2 * kCanary), was_(bytes_),
          is_(bytes_), destination_(bytes_), expected_(bytes_) {
        for (std::size_t i = 0; i < bytes_; ++i) was_.begin()[i] = is_.begin()[i] = pattern(i);
        std::memset(untouched_.data(), kUntouched, kCanary);
    }
    std::size_t largest() const { return largest_; }

    /// The fault of one copy or set, or "".
    std::string fault_of(const CheckedCopy& checked, std::size_t size, Offsets offsets) {
        std::uint8_t* const destination = destination_.begin() + kCanary + offsets.destination;
        const std::uint8_t* expected = is_.begin() + kCanary + offsets.source;
        const void* argument = expected;
        std::memset(destination - kCanary, kUntouched, size + 2 * kCanary);
        // Sets of zero may take another path. A set gets an int, of which only 8 bits are the byte.
        const auto byte = static_cast<std::uint8_t>(offsets.source * 85);
        if (checked.sets) {
            expected = expected_.begin();
            std::memset(expected_.begin(), byte, size);
            argument = reinterpret_cast<const void*>(std::uintptr_t{0x7A5A5A00} | byte);
        }
        const void* const returned = checked.copy(destination, argument, size);
        if (returned == destination && std::memcmp(destination, expected, size) == 0 &&
            std::memcmp(destination - kCanary, untouched_.data(), kCanary) == 0 &&
            std::memcmp(destination + size, untouched_.data(), kCanary) == 0) {
            return "";
        }
        const auto say = [&](const char* what, std::ptrdiff_t where) {
            return formatted("%s %td of %zu (%s%zu, destination +%zu)", what, where, size,
                             checked.sets ? "value " : "source +",
                             checked.sets ? byte : offsets.source, offsets.destination);
        };
        const auto end = static_cast<std::ptrdiff_t>(size + kCanary);
        for (std::ptrdiff_t i = -static_cast<std::ptrdiff_t>(kCanary); i < end; ++i) {
            const bool inside = i >= 0 && i < static_cast<std::ptrdiff_t>(size);
            if (inside && destination[i] != expected[i]) return say("wrong byte", i);
            if (!inside && destination[i] != kUntouched) return say("stray write at byte", i);
        }
        return say("wrong return value, byte", 0);
    }

    /// The same of one move by `shift` bytes within a buffer, from so many bytes past a line.
    std::string fault_of(const CheckedCopy& checked, std::size_t size, std::size_t offset,
                         std::ptrdiff_t shift) {
        const std::size_t at = kCanary + offset + static_cast<std::size_t>(std::max(-shift, 0l));
        std::uint8_t *const from = is_.begin() + at, *const to = from + shift;
        const std::uint8_t *const was_from = was_.begin() + at, *const was_to = was_from + shift;
        const void* const returned = checked.copy(to, from, size);
        const bool right = returned == to && std::memcmp(to, was_from, size) == 0 &&
                           std::memcmp(to - kCanary, was_to - kCanary, kCanary) == 0 &&
                           std::memcmp(to + size, was_to + size, kCanary) == 0;
        std::memcpy(to, was_to, size);
        return right
                   ? ""
                   : formatted("moves %zu bytes wrong (source +%zu, by %td)", size, offset, shift);
    }

    bool source_is_as_it_was() { return std::memcmp(is_.begin(), was_.begin(), bytes_) == 0; }

  private:
    std::size_t largest_, bytes_;
    Room was_, is_, destination_, expected_;
    std::array<std::uint8_t, kCanary> untouched_;
};

std::string first_wrong_move(const CheckedCopy& checked, Checker& checker) {
    std::string fault;
    const auto right = [&](std::size_t size, std::size_t offset, std::ptrdiff_t shift) {
        fault = checker.fault_of(checked, size, offset, shift);
        if (fault.empty()) fault = checker.fault_of(checked, size, offset, -shift);
        return fault.empty();
    };
    for (const std::size_t offset : kOffsets) {
        for (const std::size_t size : checked.sizes) {
            for (std::ptrdiff_t shift = 0; shift <= static_cast<std::ptrdiff_t>(size); ++shift) {
                if (!right(size, offset, shift)) return fault;
            }
        }
        for (const std::size_t size : checked.sizes_at_few_offsets) {
            for (const std::ptrdiff_t shift : kFewShifts) {
                if (!right(size, offset, shift)) return fault;
            }
        }
    }
    return "";
}

std::string first_wrong_copy(const CheckedCopy& checked, Checker& checker) {
    std::string fault;
    const auto right = [&](std::size_t size, Offsets offsets) {
        fault = checker.fault_of(checked, size, offsets);
        return fault.empty();
    };
    for (const std::size_t size : checked.sizes) {
        for (const std::size_t source : kOffsets) {
            for (const std::size_t destination : kOffsets) {
                if (!right(size, {source, destination})) return fault;
            }
        }
    }
    for (const std::size_t size : checked.sizes_at_few_offsets) {
        for (const Offsets offsets : kFewOffsets) {
            if (!right(size, offsets)) return fault;
        }
    }
    return "";
}

} // namespace

std::string first_fault(const CheckedCopy& checked) {
    static Checker checker(0);
    std::size_t largest = 0;
    for (const auto* sizes : {&checked.sizes, &checked.sizes_at_few_offsets}) {
        for (const std::size_t size : *sizes) largest = std::max(largest, size);
    }
    if (largest > checker.largest()) checker = Checker(largest);
    std::string fault =
        checked.moves ? first_wrong_move(checked, checker) : first_wrong_copy(checked, checker);
    if (fault.empty() && !checker.source_is_as_it_was()) fault = "writes to its source";
    if (!fault.empty()) checker = Checker(0); // its state is unknown after a fault
    return fault;
}

} // namespace asterope
