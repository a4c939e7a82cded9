// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace asterope {

/// Throws BadInput where `path` cannot be written: its folder is missing or not ours, or it is
/// itself a folder. Asked before a long run, so that the run is not lost to its last step.
void require_writable(const std::filesystem::path& path);

/// Writes beside `path`, flushes to the disk, renames over it. Throws Failure, and then `path` is
/// what it was before.
void write_atomically(const std::filesystem::path& path, std::string_view text);

} // namespace asterope
