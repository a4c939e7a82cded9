// Searches of ranges: C++20 has no word for whether one holds a value.
#pragma once

#include <algorithm>
#include <functional>

namespace asterope {

/// Whether an element, or its part by `projection`, is `value`.
template <class Range, class Value, class Projection = std::identity>
bool contains(const Range& range, const Value& value, Projection projection = {}) {
    return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

/// The first matching element; null without one.
template <class Range, class Value, class Projection = std::identity>
auto* find_in(Range& range, const Value& value, Projection projection = {}) {
    const auto found = std::ranges::find(range, value, projection);
    return found == std::ranges::end(range) ? nullptr : &*found;
}

/// The value beside `key` in a list of pairs. Where the list lacks the key, it gets it, with 0 or
/// an empty list.
template <class List> auto& entry_in(List& list, const typename List::value_type::first_type& key) {
    auto* known = find_in(list, key, &List::value_type::first);
    return known ? known->second : list.emplace_back(key, 0).second;
}

/// A map's value for the key, or `otherwise`.
template <class Map>
auto value_in(const Map& map, const typename Map::key_type& key,
              typename Map::mapped_type otherwise = {}) {
    const auto found = map.find(key);
    return found == map.end() ? otherwise : found->second;
}

} // namespace asterope
