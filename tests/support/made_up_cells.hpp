// Cells of made-up figures, as asterope-bench measures them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/cell.hpp"

namespace asterope {

/// An estimate with that share of it on either side.
inline Estimate about(double middle, double share = 0.01) {
    return {middle, middle * (1 - share), middle * (1 + share)};
}

/// Copies by name, libc's first, with libc's time over their own; see about(). The floor is 2 %.
using Ratios = std::vector<std::pair<std::string, double>>;
inline Cell made_up_cell(const std::string& label, const Ratios& ratios, double share = 0) {
    Cell cell{"sizes", "hot", label, 4096, 1, "", {1, 0.98, 1.02}, {}};
    for (const auto& [name, ratio] : ratios) {
        cell.copies.push_back(
            {name, 1e-6 / ratio, about(ratio, share), about(ratio / ratios[1].second, share)});
    }
    return cell;
}

} // namespace asterope
