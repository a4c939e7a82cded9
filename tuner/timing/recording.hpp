// Reads of a recording of asterope-record how often a program copies which small sizes.
#pragma once

#include <filesystem>

#include "timing/distribution.hpp"

namespace asterope {

/// The sizes of a program's small copies; alignments, which are not recorded, are the fleet's.
/// Throws BadInput with one line, beginning with "recording PATH": for what is no recording, is of
/// another version, is damaged, or has too few small copies to tell what they are like.
CallStatistics recorded_statistics(const std::filesystem::path& path);

} // namespace asterope
