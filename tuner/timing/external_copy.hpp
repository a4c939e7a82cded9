// A copy function of a shared object that an option names: how it is written, loaded and checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "timing/timed_copy.hpp"

namespace asterope {

/// The form in which an option names such a copy.
inline constexpr const char* kExternalCopyForm = "NAME=PATH:SYMBOL";

/// Returns the path and the symbol of "PATH:SYMBOL"; the symbol is behind the last colon.
std::pair<std::string, std::string> place_of(const std::string& text, Operation operation);

/// An option such as "musl=/lib/ld-musl-x86_64.so.1:memcpy", taken apart.
struct ExternalCopy {
    std::string name, path, symbol;
    Operation operation = Operation::copy; ///< the function that it is one of
    bool operator==(const ExternalCopy&) const = default;
};

/// Reads each. `places` reads the part behind "NAME=". Throws BadInput that begins with `option`
/// where one is not of that form, or has the name of another or one of `taken`.
std::vector<ExternalCopy>
parse_external_copies(const std::vector<std::string>& texts, const std::string& option,
                      std::vector<std::string> taken, Operation operation = Operation::copy,
                      const char* form = kExternalCopyForm, decltype(place_of)* places = place_of);

/// Loads a shared library. Returns null and sets `reason` where that fails.
void* load_library(const std::string& path, std::string& reason);

/// Returns the function, once a child process has found that it copies right. Returns null and sets
/// `reason` where it is missing, copies wrongly, crashes or hangs.
CopyFunction load_checked(const ExternalCopy& copy, std::string& reason);

/// The same for a copy that `option` names, and that the command cannot do without. Throws BadInput
/// with the reason.
CopyFunction load_required(const ExternalCopy& copy, std::string_view option);

} // namespace asterope
