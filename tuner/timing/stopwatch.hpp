// Takes samples of copies under any workload.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "timing/placement.hpp"
#include "timing/timed_copy.hpp"
#include "timing/workload.hpp"
#include "timing/workloads/buffers.hpp"

namespace asterope {

/// Calls in one sample of workloads whose number does not depend on the machine: those of small
/// copies and of moves. 0 for the others, which are calibrated.
std::size_t fixed_calls(Workload workload);

/// Untimed calls before each sample of a copy that chooses. They are twice as many as a call site
/// takes to choose between stores, see templates/x86_64/sensing.j2. 0 where copies do not choose
/// so.
std::size_t calls_to_choose(Workload workload, std::size_t size);

/// About the seconds of one of libc's samples, as its calibration says. `chooses`: timed as a copy
/// that does.
inline double seconds_of_sample(const Calibration& calibration, Workload workload, std::size_t size,
                                bool chooses) {
    const std::size_t before = chooses ? calls_to_choose(workload, size) : 0;
    return static_cast<double>(before + calibration.calls) * calibration.seconds;
}

/// Times copies in an arena. One instance is one stream of buffers. Its cold samples never meet
/// slots that another turn has just warmed. Its hot samples share the arena's tail.
class Stopwatch {
  public:
    /// `largest_size` in bytes. The arena's tail of that size and two pages, but at least 256 KiB,
    /// holds the hot buffers and the sources just written.
    ///
    /// A mapped source may be much shorter than the arena. Its tail holds the hot sources, but cold
    /// slots too. Where the map fits in a cache and gets there, no source in it is cold. It must
    /// have source_bytes_needed.
    ///
    /// `cache_bytes`: the size of the last cache. It decides how long the cache takes to settle,
    /// and which buffers can be hot in it. `operation`: its libc function calibrates. Throws
    /// BadInput where no call of `small` can be drawn, Failure where the stack is too small.
    explicit Stopwatch(const Arena& arena, std::size_t largest_size, std::size_t cache_bytes = 0,
                       SmallCalls small = {}, Operation operation = Operation::copy);

    /// Sets the number of calls of one sample at `size` so that libc's copy takes about
    /// `target_seconds`. A workload with a fixed number keeps it. All copies timed later share the
    /// number. Only a hot copy that is far slower than libc's makes fewer calls.
    void calibrate(std::size_t size, Workload workload, double target_seconds);

    /// Seconds a call of one sample; `size` in bytes. Under a workload of small copies or of moves
    /// it is 0, which means all sizes, or one of the sizes of `fixed`. Samples of the same `round`
    /// use the same misalignments. Throws Failure for a workload that writes its source where that
    /// is mapped.
    ///
    /// Where nothing is cached, a copy pays for the dirty lines that those before it left.
    /// Non-temporal stores among temporal ones look up to a third slower than they are (Zen 4, 256
    /// KiB: 1.50 times libc instead of 2.03). The others look as much faster. So at kSettledFrom
    /// bytes and more the first sample of another cache effect begins with untimed copies. They
    /// last until the caches are as these copies leave them. See settling_bytes_of_sample.
    ///
    /// In fresh memory, a copy gets the pages that the one before gave back. Huge pages cost more
    /// where that one had small pages. (`_fresh` had 2.1 times libc's speed behind libc, and 2.4 to
    /// 3.3 behind itself; 16 to 64 MiB, Emerald Rapids.) A program mostly copies in one way. So at
    /// kPagesSettledFrom bytes and more, one untimed copy comes before the first such sample of a
    /// workload or size, and before one of other TimedCopy::pages.
    ///
    /// A copy that chooses finds out which stores serve a call site, by the times between the calls
    /// there. A sample is few calls among those of other copies, which would tell it nothing. (A
    /// search gave 1.1 and 1.7 times libc's speed to two copies of 512 KiB under `produce` that do
    /// the same; Emerald Rapids.) So calls_to_choose() of the same site come before each sample.
    /// What the site has found at another size may still hold, as in a program.
    double time(const TimedCopy& copy, Workload workload, std::size_t size, std::uint64_t round);

    /// The calibration that calibrate() fixed.
    Calibration calibration(std::size_t size, Workload workload) const;

    /// Takes over the calibration of an earlier run, instead of calibrating.
    void set_calibration(std::size_t size, Workload workload, const Calibration& calibration);

    /// Prepares the calls of small copies, which the first sample would do otherwise. Returns false
    /// where there is nothing to time.
    bool prepare(Workload workload);

    const Buffers& buffers() const { return buffers_; }

  private:
    void settle(const TimedCopy& copy, Workload workload, std::size_t size, std::uint64_t round);
    void settle_pages(const TimedCopy& copy, Workload workload, std::size_t size,
                      std::uint64_t round);
    void touch_arena();

    Buffers buffers_;
    Operation operation_;
    /// The facts that determine the caches' state after a sample. A copy that chooses by the caches
    /// leaves one state or the other.
    struct Left {
        Workload workload;
        std::size_t size;
        std::uint64_t round;
        int cache_effect;
        bool operator==(const Left&) const = default;
    };

    std::optional<int> cache_effect_; ///< of the last sample, if nothing was cached in it
    std::optional<Left> left_;        ///< by the last sample
    /// The workload, size and pages of the last sample of large copies into fresh memory.
    std::optional<std::tuple<Workload, std::size_t, int>> fresh_;
    std::chrono::steady_clock::time_point touched_; ///< the arena
    std::map<std::pair<std::size_t, Workload>, Calibration> calibrations_;
};

} // namespace asterope
