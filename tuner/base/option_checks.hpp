// What options may hold, beyond what CLI11 checks by itself.
#pragma once

#include <CLI/CLI.hpp>

namespace asterope {

/// A whole number of 64 bits: CLI11 alone takes -1 and 2^64 for unsigned numbers, and nothing at
/// all for 0.
CLI::Validator whole_number();

/// Anything but the empty text, which would count as an option that was not given.
CLI::Validator not_empty();

} // namespace asterope
