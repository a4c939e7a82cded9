// Whether a vector holds a value: C++20 has no word for it.
#pragma once

#include <algorithm>
#include <vector>

namespace asterope {

template <class Value> bool contains(const std::vector<Value>& values, const Value& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

} // namespace asterope
