// Workloads: what surrounds a copy when it is timed, and the timing itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arena.hpp"

namespace asterope {

/// One way to time a copy.
/// - hot: the same buffers again and again, at changing misalignments. Timed: a run of calls,
///   after an untimed part of the same run.
/// - aliased: as hot, but each destination 1 to 63 bytes past its source modulo 4096.
/// - cold: neither side in any cache, every page touched before. Timed: a run of calls, each on a
///   stretch of the arena that was last used a whole arena ago.
/// The others are for small copies: see MixStopwatch.
enum class Workload {
    hot,
    cold,
    aliased,
    mix_l1,
    mix_l2,
    mix_l3,
    mix_l1_read,
    mix_l2_read,
    mix_l3_read,
    fixed,
    fixed_read,
};

/// "hot", "mix_l1_read": as options, logs and profiles have it.
std::string_view name_of(Workload workload);

/// "hot", "cold", or "balanced" (both); in this order everywhere. Throws BadInput.
std::vector<Workload> parse_workload(std::string_view text);

/// Where one call's buffers begin, in bytes past a line.
struct Misalignment {
    std::size_t source, destination;
};

/// The misalignments of the `i`-th call: the whole grid of 64 x 64 in a scattered order.
Misalignment misalignment(std::uint64_t i);

/// How far destinations stand from their sources modulo 4096. Half a page and some lines: no load
/// can be mistaken for one behind a store in flight (4K aliasing), whatever the misalignment.
inline constexpr std::size_t kPhase = 2048 + 5 * 64;

/// How long one trial shall take, in seconds: long against the clock's own cost (tens of
/// nanoseconds), short against the machine's slow phases.
double trial_seconds(Workload workload);

/// Any copy function; libc's ignores the last argument (x86-64 passes it in a spare register).
using CopyFunction = void* (*)(void* destination, const void* source, std::size_t bytes,
                               std::size_t distance);

/// Times copies in an arena. One instance is one stream of buffers: what it times in turn never
/// meets buffers that another turn has just warmed (cold) and shares them all (hot).
class Stopwatch {
  public:
    /// `largest_size` in bytes: the arena's tail of that size (and two pages) holds the hot
    /// buffers.
    Stopwatch(const Arena& arena, std::size_t largest_size);

    /// Fixes the number of calls of one trial at `size` so that libc's memcpy takes about
    /// `target_seconds`; shared by all copies timed later.
    void calibrate(std::size_t size, Workload workload, double target_seconds);

    /// Seconds a call of one trial. Trials of the same `round` use the same misalignments.
    double time(CopyFunction copy, std::size_t distance, std::size_t size, Workload workload,
                std::uint64_t round);

    /// Calls in one trial.
    std::size_t calls(std::size_t size, Workload workload) const;

    /// What one trial of libc's memcpy took when it was calibrated, in seconds.
    double trial_seconds(std::size_t size, Workload workload) const;

  private:
    /// Where the cold copies of one size go: slots of the arena, visited in a scattered order.
    struct Slots {
        std::size_t stride = 0, count = 0, step = 0, next = 0;
    };
    double time_hot(CopyFunction copy, std::size_t distance, std::size_t size, std::size_t calls,
                    std::uint64_t round, bool aliased);
    double time_cold(CopyFunction copy, std::size_t distance, std::size_t size, std::size_t calls,
                     std::uint64_t round);
    Slots& slots(std::size_t size);

    const Arena& arena_;
    std::size_t cold_bytes_; ///< of each side
    std::map<std::size_t, Slots> slots_;
    struct Calibration {
        std::size_t calls;
        double seconds; ///< a call of libc's
    };
    std::map<std::pair<std::size_t, Workload>, Calibration> calibrations_;
};

} // namespace asterope
