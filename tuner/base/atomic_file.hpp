// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/descriptor.hpp"

namespace asterope {

/// Whether it is a regular file, or nothing yet, behind all symbolic links. What else there is (a
/// device, a pipe, /dev/stdout and /dev/fd/N whatever they lead to) is written into and never
/// replaced.
bool is_replaceable(const std::filesystem::path& path);

/// Throws BadInput where `path` cannot be written: its folder is missing or not ours, or it is
/// itself a folder. Asked before a long run, so that the run is not lost to its last step. Removes
/// what a killed process left behind there.
void require_writable(const std::filesystem::path& path);

/// Replaces a regular file as a whole: writes beside it, flushes to the disk, renames over it.
/// Interrupts wait meanwhile. Writes into what is no regular file. Throws Failure, and then a
/// regular file is what it was before; Interrupted where it was writing into a pipe.
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// A new file that begins with `text`, whole or not at all, open for writing behind it; locked as
/// lock_file() does from the moment it is there. Not open where there is a file already. What is no
/// regular file is written into. Throws Failure.
Descriptor create_locked(const std::filesystem::path& path, std::string_view text);

/// Writes all of `text`, whatever interrupts it. Throws std::system_error; Interrupted.
void write_all(int file, std::string_view text);

/// Locks an open file against other processes that want to lock it, until it is closed; they may
/// read and write it all the same. False where another has locked it. A file system that knows no
/// locks counts as locked: it must not keep anybody from writing.
bool lock_file(int file);

} // namespace asterope
