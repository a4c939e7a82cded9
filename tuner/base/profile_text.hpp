// Text as profiles may hold it: it becomes C comments later.
#pragma once

#include <string>
#include <string_view>

namespace asterope {

/// Without blanks at both ends.
std::string_view trim(std::string_view text);

/// Letters, digits, blanks and ()@.,:_+/- as they are, anything else as '_'; trimmed, at most 200
/// characters: the "name" of the profile's schema.
std::string profile_name(std::string_view text);

} // namespace asterope
