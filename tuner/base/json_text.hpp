// The one place where JSON text from outside becomes values.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace asterope {

/// How many arrays and objects may lie in one another; no file of ours has more than a
/// dozen. Deeper text is refused before a value is made of it: copying, comparing and writing
/// values recurse as deep as they nest. The Python commands have the same limit.
inline constexpr std::size_t kDeepestJson = 16;

/// Parses JSON; the fields have the order of the text. Throws BadInput, "`what`: line 3 column 17:
/// not JSON: ...", for other text. In the same form it refuses text that nests too deeply, or has a
/// number that no double can hold. It refuses a name that one object gives twice, without a place.
/// Columns count characters. `line`: the text's first one in its file.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& what,
                                  std::size_t line = 1);

/// The value that `pointer` leads to, as in "/cpu/model"; null where it leads nowhere in any
/// `value`.
nlohmann::json part_of(const nlohmann::json& value, const char* pointer);

} // namespace asterope
