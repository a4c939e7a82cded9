// The calls that the workloads of small copies make, and their timing.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.hpp"
#include "timing/arena.hpp"
#include "timing/buffer_access.hpp"
#include "timing/distribution.hpp"
#include "timing/repeated_copy.hpp"
#include "timing/timed_copy.hpp"
#include "timing/workloads/page_ends.hpp"

namespace asterope {

/// Sizes above this, in bytes, are not drawn: twice the largest bound of the small copies.
inline constexpr std::size_t kLargestMixed = 1024;

/// The weight of a size in the draw.
/// - calls: each call counts once. Sizes have their own probabilities, and the few above `largest`
///   are not drawn. The figure is the time a call: it tells how long a program's many small calls
///   take.
/// - bytes: each byte counts once. Sizes are drawn with probability times size, up to half of a
///   side of the working set, at most `largest`. The figure is the time a byte, times the mean size
///   (so that by chance larger calls in one sample say nothing). It tells how long moving the data
///   takes, of which a few large calls do most.
enum class Weighting { calls, bytes };

/// Which calls are made.
struct SmallCalls {
    std::vector<Cache> caches = {}; ///< their sizes bound the working sets; empty: usual sizes
    CallStatistics statistics = fleet_statistics();
    std::size_t largest = kLargestMixed; ///< bytes; larger sizes are not drawn
    std::uint64_t seed = 1;              ///< of the random draw of the calls
    Weighting weighting = Weighting::calls;
    const Arena* arena = nullptr; ///< of the calls; null: that of the other workloads
};

/// The most of a cache that a working set takes: where a machine reports a huge cache, samples must
/// not touch all memory.
inline constexpr std::size_t kMostOfACache = std::size_t{64} << 20;

/// Bytes of the largest cache up to that level; a usual size if the machine names no such cache.
std::size_t cache_bytes(const std::vector<Cache>& caches, int level);

/// Calls in the order in which they are made. Each sample makes the next ones of a sequence that is
/// far longer than branch predictors remember. They learn ten thousand calls by heart. If all
/// copies of a round had the same calls, the last copies would find them learnt.
struct CallSequence {
    struct Call {
        std::uint32_t size, source, destination;
    };
    std::vector<Call> calls;
    std::size_t next = 0;
    std::size_t warm = 0, timed = 0; ///< calls of one sample
    double mean_bytes = 0;
    const char* source = nullptr; ///< where the calls' places count from
    char* destination = nullptr;

    static constexpr std::size_t kCalls = std::size_t{1} << 19;

    /// `draw()` gives a call.
    template <class Draw> void fill(const Draw& draw) {
        calls.reserve(kCalls);
        double bytes = 0;
        while (calls.size() < kCalls) {
            calls.push_back(draw());
            bytes += static_cast<double>(calls.back().size);
        }
        mean_bytes = bytes / static_cast<double>(kCalls);
    }
};

/// Calls a small copy; with `read`, each copy is read right after it was made. Every second reader
/// looks at the end first, as at a trailer or at the end of a text. Stores that overlap there would
/// hold it up, and readers from the beginning on alone do not show that.
class SmallCaller {
  public:
    SmallCaller(const TimedCopy& copy, bool read)
        : function_(small_function(copy)), second_(copy), distance_(copy.argument),
          large_(copy.large), read_(read) {}
    ~SmallCaller() { keep(sum_); }
    SmallCaller(const SmallCaller&) = delete;
    SmallCaller& operator=(const SmallCaller&) = delete;

    void operator()(char* to, const char* from, std::size_t bytes) {
        function_(to, second_(from), bytes, distance_, large_);
        if (!read_) return;
        if (++calls_ % 2) sum_ += read_end(to, bytes);
        sum_ += read_copy(to, bytes);
    }

  private:
    asterope_small_candidate function_;
    SecondArgument second_;
    std::size_t distance_;
    asterope_candidate large_;
    bool read_;
    std::uint64_t calls_ = 0, sum_ = 0;
};

/// Seconds a call of one sample; `read`: each copy is read right after it was made.
double time_sequence(CallSequence& sequence, const TimedCopy& copy, Weighting weighting, bool read);

/// The sizes that the workloads fixed and fixed_read go through.
const std::vector<std::size_t>& fixed_sizes();

/// The sizes that fixed_walk and fixed_walk_read go through: those of up to two lines.
const std::vector<std::size_t>& walked_sizes();

} // namespace asterope
