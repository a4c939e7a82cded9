// Variants that no template renders, for tests of the code that searches, writes and prints them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "space/space.hpp"

namespace asterope {

/// A variant's values on the axes with a mark, in their order; the defaults are the paper's.
struct Axes {
    int tb = 2, pi = 1;
    int pw = 0; ///< 1: has a prefetchw stage
    const char* dir = "up";
    int pg = 0; ///< of x86-64 alone
};

/// By name, as the fields' order in asterope_variant is the templates' affair.
inline asterope_variant made_up(const char* rt, const char* lt, const char* st, const char* pt,
                                int ps, const Axes& axes = {}) {
    asterope_variant variant{};
    variant.space = &asterope_copies;
    variant.rt = rt;
    variant.lt = lt;
    variant.st = st;
    variant.pt = pt;
    variant.ps = ps;
    int i = 0;
    for (const asterope_axis& axis : asterope::axes()) {
        const std::string_view field = axis.field;
        if (!axis.mark) continue;
        variant.marked[i++] = field == "tb"   ? axes.tb
                              : field == "pi" ? axes.pi
                              : field == "pw" ? axes.pw
                              : field == "pg" ? axes.pg
                                              : std::string_view(axes.dir) == "down";
    }
    variant.needs = "";
    return variant;
}

/// The value of a candidate on the axis with that field, as text.
inline std::string value(const Candidate& candidate, std::string_view field) {
    for (const asterope_axis& axis : axes()) {
        if (axis.field == field) return to_text(candidate.value(axis));
    }
    return "no such axis";
}

/// A copy of another kind, without functions.
inline asterope_copy made_up(const char* name, std::initializer_list<asterope_field> fields = {}) {
    asterope_copy copy{name, {}, "", nullptr, nullptr, nullptr};
    std::copy(fields.begin(), fields.end(), copy.fields);
    return copy;
}

inline asterope_copy made_up_small(const char* name, const char* shape, const char* rt,
                                   const char* order, int bound) {
    return made_up(
        name, {{"shape", shape, 0}, {"rt", rt, 0}, {"order", order, 0}, {"bound", nullptr, bound}});
}

} // namespace asterope
