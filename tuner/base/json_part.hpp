// A part of a JSON document that may not be there.
#pragma once

#include <nlohmann/json.hpp>

namespace asterope {

/// What `pointer` leads to, as in "/cpu/model"; null where that is nothing, whatever `value` is.
inline nlohmann::json part_of(const nlohmann::json& value, const char* pointer) {
    const nlohmann::json::json_pointer place(pointer);
    return value.contains(place) ? value.at(place) : nlohmann::json();
}

} // namespace asterope
