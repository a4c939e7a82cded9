// Proves that a copy of unknown origin copies right before it is timed.
#include "timing/correctness.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/child_process.hpp"
#include "base/text.hpp"
#include "base/watched_run.hpp"

namespace asterope {

namespace {

constexpr std::size_t kCanary = 256;
constexpr std::uint8_t kUntouched = 0xA5;
constexpr const char* kRight = "copies right";

struct Offsets {
    std::size_t source, destination; ///< from a line boundary
};

/// Deterministic bytes that no shift of themselves equals.
std::uint8_t pattern(std::size_t i) {
    return static_cast<std::uint8_t>((i * 2654435761u) >> 11);
}

/// Buffers that hold copies of up to `largest` bytes at any offset.
class CheckedBuffers {
  public:
    explicit CheckedBuffers(std::size_t largest)
        : source_(largest + 2 * 64), destination_(largest + 2 * 64 + 2 * kCanary),
          untouched_(kCanary, kUntouched) {
        for (std::size_t i = 0; i < source_.size(); ++i) source_[i] = pattern(i);
    }

    /// What is wrong with one copy, or "".
    std::string try_one(CopyFunction copy, std::size_t size, Offsets offsets) {
        const std::uint8_t* source = at_line(source_) + offsets.source;
        return try_one(copy, source, source, size, offsets.destination,
                       "source +" + std::to_string(offsets.source));
    }

    /// The same of a set, to the byte that its offset in the source is a number of: the source's
    /// alignment means nothing to it.
    std::string try_set(CopyFunction set, std::size_t size, Offsets offsets) {
        const auto byte = static_cast<std::uint8_t>(offsets.source * 85); // 0, 0x55, 0xfb, ...
        expected_.assign(size, byte);
        // of the int that it gets, only the lowest 8 bits are the byte
        const std::uintptr_t argument = 0x7A5A5A00u | byte;
        return try_one(set, reinterpret_cast<const void*>(argument), expected_.data(), size,
                       offsets.destination, "value " + std::to_string(byte));
    }

    bool source_is_as_it_was() const {
        for (std::size_t i = 0; i < source_.size(); ++i) {
            if (source_[i] != pattern(i)) return false;
        }
        return true;
    }

  private:
    /// `argument`: the function's second one, which messages call `called`; `expected`: what shall
    /// be at the destination then.
    std::string try_one(CopyFunction function, const void* argument, const std::uint8_t* expected,
                        std::size_t size, std::size_t past_line, const std::string& called) {
        std::uint8_t* destination = at_line(destination_) + kCanary + past_line;
        std::memset(destination - kCanary, kUntouched, size + 2 * kCanary);
        const void* returned = function(destination, argument, size, 0);
        if (returned == destination && std::memcmp(destination, expected, size) == 0 &&
            std::memcmp(destination - kCanary, untouched_.data(), kCanary) == 0 &&
            std::memcmp(destination + size, untouched_.data(), kCanary) == 0) {
            return "";
        }
        const auto say = [&](const char* what, std::ptrdiff_t where) {
            return formatted("%s %td of %zu (%s, destination +%zu)", what, where, size,
                             called.c_str(), past_line);
        };
        const auto end = static_cast<std::ptrdiff_t>(size + kCanary);
        for (std::ptrdiff_t i = -static_cast<std::ptrdiff_t>(kCanary); i < end; ++i) {
            const bool inside = i >= 0 && i < static_cast<std::ptrdiff_t>(size);
            if (inside && destination[i] != expected[i]) return say("wrong byte", i);
            if (!inside && destination[i] != kUntouched) return say("stray write at byte", i);
        }
        return say("wrong return value, byte", 0);
    }

    static std::uint8_t* at_line(std::vector<std::uint8_t>& room) {
        const auto address = reinterpret_cast<std::uintptr_t>(room.data());
        return room.data() + (64 - address % 64) % 64;
    }
    std::vector<std::uint8_t> source_, destination_, untouched_, expected_;
};

/// Every small size, and larger ones about powers of two, where copies change their way; of these
/// at few offsets.
std::string try_all(CopyFunction function, Operation operation) {
    constexpr std::array<std::size_t, 5> offsets = {0, 1, 15, 32, 63};
    std::vector<std::size_t> sizes(260);
    std::iota(sizes.begin(), sizes.end(), 0);
    for (std::size_t power = 512; power <= std::size_t{1} << 20; power *= 2) {
        sizes.insert(sizes.end(), {power - 1, power, power + 1, power + power / 2 + 7});
    }
    // where threads and streaming stores begin
    sizes.insert(sizes.end(), {std::size_t{5} << 20, (std::size_t{20} << 20) + 77});
    CheckedBuffers buffers(sizes.back());
    for (const std::size_t size : sizes) {
        for (const std::size_t source : offsets) {
            for (const std::size_t destination : offsets) {
                if (size > 10000 && source + destination != 64) continue;
                if (size > std::size_t{2} << 20 && source != 1) continue;
                const Offsets at{source, destination};
                const std::string fault = facts_of(operation).reads
                                              ? buffers.try_one(function, size, at)
                                              : buffers.try_set(function, size, at);
                if (!fault.empty()) return fault;
            }
        }
    }
    return buffers.source_is_as_it_was() ? "" : "writes to its source";
}

/// Moves within one buffer up and down, at sizes and shifts about those where copies change their
/// way.
std::string try_overlaps(CopyFunction move) {
    constexpr std::array<std::size_t, 18> sizes = {
        1, 7, 32, 64, 100, 128, 129, 255, 257, 500, 512, 513, 1000, 1024, 1025, 4097, 9001, 70001};
    constexpr std::array<std::size_t, 16> shifts = {1,  2,   7,   8,   16,  31,   32,   33,
                                                    64, 127, 128, 256, 500, 4095, 4096, 5000};
    std::vector<std::uint8_t> was(sizes.back() + shifts.back() + 2 * kCanary + 64);
    for (std::size_t i = 0; i < was.size(); ++i) was[i] = pattern(i);
    std::vector<std::uint8_t> is = was;
    for (const std::size_t size : sizes) {
        for (const std::size_t shift : shifts) {
            for (const bool up : {true, false}) {
                const std::size_t low = kCanary + (size + shift) % 64, high = low + shift;
                const std::size_t to = up ? high : low, from = up ? low : high;
                const void* returned = move(&is[to], &is[from], size, 0);
                std::vector<std::uint8_t> expected = was;
                std::memcpy(&expected[to], &was[from], size);
                if (returned != &is[to] || is != expected) {
                    return "moves " + std::to_string(size) + " bytes by " + std::to_string(shift) +
                           (up ? " up" : " down") + " wrong";
                }
                is = was;
            }
        }
    }
    return "";
}

} // namespace

std::string fault_of(const std::function<CopyFunction(std::string& reason)>& find, double seconds,
                     bool moves, Operation operation) {
    ChildProcess child([&](int answers) {
        // what a library prints when it is loaded is no part of our output
        const int nowhere = open("/dev/null", O_RDWR);
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            dup2(nowhere, standard);
        }
        std::string reason;
        const CopyFunction copy = find(reason);
        if (copy) reason = try_all(copy, operation);
        if (copy && moves && reason.empty()) reason = try_overlaps(copy);
        // said aloud: a copy that calls exit() says nothing
        if (reason.empty()) reason = kRight;
        write_all(answers, reason);
    });
    const auto [reason, ended] = read_until_end(child.answers(), seconds);
    if (!ended) return formatted("still runs after %g s of checking", seconds);
    const int status = child.wait();
    if (WIFSIGNALED(status)) return std::string("died: ") + strsignal(WTERMSIG(status));
    if (reason.empty()) return "ends the process that calls it";
    // Each process that the copy forked says what it found, behind what the others say.
    const bool forks = reason.size() > std::strlen(kRight) && reason.find(kRight) != reason.npos;
    return forks ? "starts other processes" : reason == kRight ? "" : reason;
}

std::string fault_since(CopyFunction copy, std::string_view name, Operation operation) {
    const Calling calling(name);
    return try_all(copy, operation);
}

} // namespace asterope
