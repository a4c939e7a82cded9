// The workloads of small copies: calls as programs make them, each of another size.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "machine/machine.hpp"
#include "space/candidates.h"
#include "timing/arena.hpp"
#include "timing/distribution.hpp"
#include "timing/page_ends.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// Sizes above this, in bytes, are not drawn: twice the largest bound of the small copies.
inline constexpr std::size_t kLargestMixed = 1024;

/// A copy of any size and what it does with large ones; for libc the last two mean nothing.
struct MixCopy {
    asterope_small_candidate function;
    std::size_t distance;
    asterope_candidate large;
};

/// libc's memcpy in this form.
MixCopy libc_mix_copy();

/// Whose turn it is when a size is drawn.
/// - calls: each call counts once. Sizes have their own probabilities, and the few above `largest`
///   are not drawn; the figure is the time a call. What a program's many small calls wait for.
/// - bytes: each byte counts once. Sizes are drawn with probability times size, up to half of what
///   the working set has for a side, at most `largest`. The figure is the time a byte, times the
///   mean size (so that by chance larger calls in one trial say nothing). What moving the data
///   takes, which a few large calls do most of.
enum class Weighting { calls, bytes };

/// Times copies under the `mix`, `fixed` and `page_end` workloads.
/// - mix_*: sizes and alignments drawn from call statistics, at random places of a working set
///   that fits in half of that cache; of mix_memory, of the whole arena. Each trial makes the next
///   calls of a plan far longer than branch predictors remember: they do learn ten thousand calls
///   by heart, and were the copies of one round given the same calls, the last ones would find them
///   learnt.
/// - page_end: calls as in the mixes, few enough places for the first cache, and of every other
///   call the source, of the others the destination ends 0 to 63 bytes before the end of a page
///   behind which nothing may be touched (PageEnds). A masked move whose masked-off part reaches
///   into such a page copies right, but takes hundreds of cycles or thousands.
/// - fixed: one size again and again, for each of several sizes; the geometric mean of their times.
/// - *_read: each copy is read (read_copy) right after it was made; the reading is timed
///   along, for libc as for everybody else.
class MixStopwatch {
  public:
    /// `largest` in bytes: sizes above it are not drawn; `seed` fixes the plan. Throws BadInput
    /// where calls have no size that can be drawn.
    MixStopwatch(const Arena& arena, const Machine& machine, const CallStatistics& statistics,
                 std::size_t largest, std::uint64_t seed, Weighting weighting = Weighting::calls);

    /// Whether there is a size that fits in the working set: always, where calls count. Where bytes
    /// do, page_end has none: the ends of few large copies say nothing.
    bool fits(Workload workload) const;
    /// Bytes of a call of the plan, on average.
    double mean_bytes(Workload workload) const;

    /// Seconds a call of one trial. `round` matters to the fixed workloads only: trials of the same
    /// round lie in the same place.
    double time(const MixCopy& copy, Workload workload, std::uint64_t round);

    /// Timed calls in one trial where calls count.
    static std::size_t calls(Workload workload);

    /// The sizes that the fixed workloads go through.
    static const std::vector<std::size_t>& fixed_sizes();

    /// Where the calls of page_end lie. Only where calls count.
    const PageEnds& page_ends() const { return *page_ends_; }

    /// One of the fixed sizes alone, for benchmarks. Seconds a call.
    double time_fixed(const MixCopy& copy, std::size_t size, bool read, std::uint64_t round);

  private:
    struct Call {
        std::uint32_t size, source, destination;
    };
    struct CallSequence {
        std::vector<Call> calls;
        std::size_t next = 0;
        std::size_t warm = 0, timed = 0; ///< calls of one trial
        double mean_bytes = 0;
        const char* source = nullptr; ///< where the calls' places count from
        char* destination = nullptr;
    };
    /// `level` 4 is memory.
    CallSequence draw_plan(const Machine& machine, const CallStatistics& statistics,
                           std::size_t largest, int level, std::mt19937_64& random) const;
    CallSequence draw_page_ends(const CallStatistics& statistics, std::size_t largest,
                                std::mt19937_64& random) const;
    static std::size_t plan_of(Workload workload); ///< its place in plans_
    double time_calls(const MixCopy& copy, CallSequence& plan, bool read);

    const Arena& arena_;
    Weighting weighting_;
    std::optional<PageEnds> page_ends_; ///< where calls count
    std::array<CallSequence, 5>
        plans_; ///< for the working sets of L1, L2, L3 and memory; for page_end
};

} // namespace asterope
