// The candidates of one machine: the rendered variants that its CPU runs, at every distance.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "candidates.h"

namespace asterope {

/// Bytes from which on a candidate copies right; what is below belongs to the small copies.
inline constexpr std::size_t kMinimumBytes = 128;

/// One point of the parameter space and the function that copies so.
struct Candidate {
    const asterope_variant* variant;
    int pd; ///< prefetch distance in cache lines

    /// Bytes to hand to `variant->copy`.
    std::size_t distance() const { return static_cast<std::size_t>(pd) * 64; }
    /// "ZMM T NT T0 4 8": RT LT ST PT PS PD, as tables and logs have it.
    std::string name() const;
    bool prefetches() const { return variant->ps != 0; }
};

/// Whether the CPU has all of `needs`, feature names with blanks in between.
bool has_all(std::string_view needs, const std::function<bool(std::string_view)>& has);

/// All candidates of the paper space whose CPU feature `has` grants, simplest first.
std::vector<Candidate> paper_space(const std::function<bool(std::string_view)>& has);

/// The space counted along each axis, as `asterope-tune --list-space` prints it.
std::string describe_space(const std::vector<Candidate>& space);

} // namespace asterope
