// Variants that no template renders, for tests of what searches, writes and prints them.
#pragma once

#include "space/candidates.h"

namespace asterope {

/// What one is on the extension axes; the defaults are the paper's.
struct Axes {
    int tb = 2, pi = 1;
    int pw = 0; ///< 1: has a prefetchw stage
    const char* dir = "up";
};

/// By name, as the fields' order in asterope_variant is the templates' affair.
inline asterope_variant made_up(const char* rt, const char* lt, const char* st, const char* pt,
                                int ps, const Axes& axes = {}) {
    asterope_variant variant{};
    variant.rt = rt;
    variant.lt = lt;
    variant.st = st;
    variant.pt = pt;
    variant.ps = ps;
    variant.tb = axes.tb;
    variant.pi = axes.pi;
    variant.pw = axes.pw;
    variant.dir = axes.dir;
    variant.needs = "";
    return variant;
}

/// A copy of another kind, without functions.
inline asterope_copy made_up(const char* name, const char* tuple) {
    return {name, tuple, "", nullptr, nullptr, nullptr};
}

} // namespace asterope
