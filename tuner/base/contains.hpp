// What ranges are searched for: C++20 has no word for whether one holds a value.
#pragma once

#include <algorithm>
#include <functional>

namespace asterope {

/// Whether an element, or what `projection` takes of it, is `value`.
template <class Range, class Value, class Projection = std::identity>
bool contains(const Range& range, const Value& value, Projection projection = {}) {
    return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

/// The first element that is so; null where none is.
template <class Range, class Value, class Projection = std::identity>
auto* find_in(Range& range, const Value& value, Projection projection = {}) {
    const auto found = std::ranges::find(range, value, projection);
    return found == std::ranges::end(range) ? nullptr : &*found;
}

} // namespace asterope
