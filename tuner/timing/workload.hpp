// Workloads: what surrounds a copy when it is timed, and the timing itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "timing/arena.hpp"

namespace asterope {

/// One way to time a copy. Every trial starts with clean vector registers and ends with one figure,
/// the seconds a call; choosing the buffers' places is timed along where nothing else is said (a
/// few additions, for libc as for everybody else).
enum class Workload {
    /// Prepares: a few untimed calls on the very buffers, at least three, but none where they
    /// outgrow the caches. Times: a run of calls there, each at another misalignment. Leaves out:
    /// the caches' misses, and who reads.
    hot,
    /// As hot, and read_copy of each copy right after it: in the untimed calls and in the timed.
    hot_read,
    /// Prepares: nothing, as the slots were last used a whole arena ago, by when no cache has them;
    /// their pages were touched before. Times: a run of calls, each on another slot. Leaves out:
    /// page faults, and who reads.
    cold,
    /// As cold, and read_copy of each copy right after it, inside the timing.
    consume,
    /// Prepares: write_source over the sources of a group of calls, all in one stretch that stays
    /// cached as far as it fits. Times: the copies of the group, to slots as cold ones. Leaves out:
    /// the writing, and who reads. A group is one call from 16 KiB up, and below as many as keep
    /// their sources in the first cache: the clock, read twice a group, costs tens of nanoseconds,
    /// as much as a copy of 128 bytes.
    produce,
    /// As hot, but each destination begins 1 to 63 bytes past its source modulo 4096.
    aliased,
    // The others are for small copies: see MixStopwatch.
    mix_l1,
    mix_l2,
    mix_l3,
    mix_l1_read,
    mix_l2_read,
    mix_l3_read,
    fixed,
    fixed_read,
    mix_memory, // last: replay's noise depends on the others' places
    mix_memory_read,
    /// Prepares: one untimed call. Times: calls from other sources each, as cold, to one and the
    /// same buffer, which is cached if it fits, and read_copy of each copy right after it: files
    /// and messages that are taken into a buffer and used there.
    fetch,
    // For small copies, see MixStopwatch.
    page_end,
    page_end_read,
    /// Prepares: memory for the destinations of a group of calls, mapped anew, with the pages that
    /// the system gives unasked. Times: the copies of the group, from sources as cold ones, each to
    /// pages that nobody has touched, and so the page faults. Leaves out: mapping, unmapping, and
    /// who reads. From kFreshFrom bytes up, as smaller blocks of a heap are mostly used again.
    fresh,
    /// Moves between cached buffers that overlap: see OverlapStopwatch.
    overlapping,
};

/// "hot", "mix_l1_read": as options, logs and profiles have it.
std::string_view name_of(Workload workload);

/// The workload of that name.
std::optional<Workload> find_workload(std::string_view name);

/// What surrounds the copy, in a line, for legends: "neither side in any cache".
std::string_view description_of(Workload workload);

/// Whether it needs a source that can be written.
inline bool writes_source(Workload workload) {
    return workload == Workload::produce;
}

/// What fresh begins with, in bytes.
inline constexpr std::size_t kFreshFrom = 4096;

/// Whether copies of `size` bytes are timed under a workload of one size at a time.
inline bool is_timed_at(std::size_t size, Workload workload) {
    return workload != Workload::fresh || size >= kFreshFrom;
}

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

/// From this size on, in bytes, who ran before matters where nothing is cached. Below, a copy with
/// non-temporal stores waits so long for their end that nobody else's dirty lines show.
inline constexpr std::size_t kSettledFrom = 16 << 10;

/// Whether the two sides of a copy outgrow a cache together. "The same buffers again" are then not
/// cached either. A cache of 0 bytes is one that is not known.
inline bool outgrows(std::size_t size, std::size_t cache_bytes) {
    return cache_bytes > 0 && size > cache_bytes / 2;
}

/// How much is copied, in bytes, until a last cache of so many is as the copy leaves it.
std::size_t settling_bytes(std::size_t cache_bytes);

/// Any copy function; libc's ignores the last argument (x86-64 passes it in a spare register).
using CopyFunction = void* (*)(void* destination, const void* source, std::size_t bytes,
                               std::size_t distance);

/// The least that a mapped source may have: a copy of `largest_size` bytes at every misalignment
/// and in every line of a page.
constexpr std::size_t source_bytes_needed(std::size_t largest_size) {
    return largest_size + 2 * 4096;
}

/// How long a trial is.
struct Calibration {
    std::size_t calls; ///< in one trial
    double seconds;    ///< a call of libc's
};

/// Times copies in an arena under the workloads of one size at a time. One instance is one stream
/// of buffers: what it times in turn never meets slots that another turn has just warmed (cold) and
/// shares the arena's tail (hot).
class Stopwatch {
  public:
    /// `largest_size` in bytes: the arena's tail of that size and two pages, at least of 256 KiB,
    /// holds the hot buffers and the sources just written. A mapped source may be much shorter than
    /// the arena: its tail holds the hot sources, but cold slots too, and where the map fits in a
    /// cache and gets there, no source in it is cold. It must have source_bytes_needed.
    /// `cache_bytes`: of the last cache, which decides how long it takes until that is settled,
    /// and what can be hot in it.
    Stopwatch(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes = 0);

    /// Fixes the number of calls of one trial at `size` so that libc's memcpy takes about
    /// `target_seconds`; shared by all copies timed later, but for hot ones that libc's leaves far
    /// behind: theirs are fewer.
    void calibrate(std::size_t size, Workload workload, double target_seconds);

    /// Seconds a call of one trial. Trials of the same `round` use the same misalignments. Throws
    /// Failure for the workloads of small copies, and for produce where the source is mapped.
    ///
    /// `cache_effect`: copies of one number leave the caches alike. Where nothing is cached, a copy
    /// pays for the dirty lines that those before it left: non-temporal stores among temporal ones
    /// look up to a third slower than they are by themselves, and the others as much faster (Zen 4,
    /// 256 KiB: 1.50 times libc instead of 2.03). So at kSettledFrom bytes and more the first trial
    /// of another cache effect begins with untimed copies, until the caches are as these leave
    /// them.
    double time(CopyFunction copy, std::size_t distance, std::size_t size, Workload workload,
                std::uint64_t round, int cache_effect = 0);

    /// As calibrate() fixed it.
    Calibration calibration(std::size_t size, Workload workload) const;

    /// Instead of calibrating: as an earlier run found it.
    void set_calibration(std::size_t size, Workload workload, const Calibration& calibration);

    /// Calls in one trial.
    std::size_t calls(std::size_t size, Workload workload) const {
        return calibration(size, workload).calls;
    }

    /// What all readers summed up so far: read_copy of every copy that a workload has read.
    std::uint64_t sum_read() const { return sum_read_; }

  private:
    /// Where cold buffers of one size go: slots of an area, visited in a scattered order.
    struct Slots {
        Slots() = default;
        Slots(std::size_t stride, std::size_t room); ///< both in bytes
        std::size_t take();                          ///< the next slot's offset in bytes
        std::size_t stride = 0, count = 0, step = 0, next = 0;
    };
    /// The slots of both sides. They differ only where the source is mapped.
    struct Sides {
        Slots source, destination;
    };
    /// The arguments of `time`, and the calls to make.
    struct Trial {
        CopyFunction copy;
        std::size_t distance, size, calls;
        std::uint64_t round;
    };
    double time_hot(const Trial& trial, bool read, bool aliased); ///< hot, hot_read, aliased
    double time_cold(const Trial& trial, bool read);              ///< cold, consume
    double time_fetch(const Trial& trial);
    double time_produce(const Trial& trial);
    double time_fresh(const Trial& trial);
    void settle(const Trial& trial);
    Sides& slots(std::size_t size);

    const Arena& arena_;
    std::size_t cache_bytes_;
    std::size_t settle_bytes_;
    std::optional<int> cache_effect_; ///< of the last trial, if nothing was cached in it
    std::size_t cold_bytes_;          ///< of each side, whole pages
    std::size_t hot_source_;          ///< where the source's tail begins: there, or in the map
    std::uint64_t sum_read_ = 0;
    std::uint64_t written_ = 0; ///< what the next source will begin with
    std::map<std::size_t, Sides> slots_;
    std::map<std::pair<std::size_t, Workload>, Calibration> calibrations_;
};

} // namespace asterope
