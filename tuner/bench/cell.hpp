// A cell of the comparison, with the figures of every copy in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/contains.hpp"
#include "base/statistics.hpp"

namespace asterope {

/// The routine's name in tables and files, for any symbol.
inline constexpr const char* kRoutineName = "asterope";

/// One copy in one cell.
struct CopyResult {
    std::string copy;
    /// Seconds a call, median over the rounds. With several threads, it is the time between two
    /// successive ends of calls, of any thread. Inside applications, it is that of all cycles
    /// (locality), of a read (cache), of a message or its part (messages).
    double seconds;
    Estimate ratio;  ///< libc's time over its own
    Estimate versus; ///< the routine's time over its own
    /// The time of the routine's entry point for this workload, divided by this copy's time. Empty
    /// where no such entry point ran.
    std::optional<Estimate> versus_entry_point = std::nullopt;
    bool reference = false; ///< the routine is judged by it, as by libc
    bool rival = true;      ///< another's copy, on one thread: the routine competes with it
};

struct Cell {
    std::string suite, workload, label;
    std::size_t size = 0; ///< bytes a call; 0 where calls are of many sizes
    int threads = 1;
    std::string weighting; ///< "calls" or "bytes" of a mix, else empty
    Estimate floor = {};   ///< libc's time over libc's
    /// libc first, then the routine, then the others that ran
    std::vector<CopyResult> copies = {};

    const CopyResult* find(const std::string& copy) const {
        return find_in(copies, copy, &CopyResult::copy);
    }
    const CopyResult& libc() const { return copies.front(); }
    const CopyResult& routine() const { return copies.at(1); }

    /// The copy that the routine is judged by here: the faster of libc and the references.
    const CopyResult& best_reference() const {
        const CopyResult* best = &libc();
        for (const CopyResult& one : copies) {
            if (one.reference && one.seconds < best->seconds) best = &one;
        }
        return *best;
    }
    /// Its time over the routine's.
    Estimate best_ratio() const {
        const CopyResult& best = best_reference();
        if (!best.reference) return routine().ratio;
        return inverse(best.versus);
    }

    /// How far libc strays from itself, as a factor of at least 1: a lead up to it means nothing.
    double noise() const { return std::max({1.0, floor.high, 1 / floor.low}); }
};

} // namespace asterope
