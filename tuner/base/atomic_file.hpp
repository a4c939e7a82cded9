// Files that are there whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace asterope {

/// Whether the path leads to a regular file, or to nothing yet, behind all symbolic links. Other
/// kinds are written into and never replaced: a device, a pipe, /dev/stdout and /dev/fd/N with any
/// target.
bool is_replaceable(const std::filesystem::path& path);

/// Throws BadInput where `path` cannot be written: its folder is missing or not ours, or it is
/// itself a folder. Asked before a long run, so that the run is not lost to its last step. Removes
/// leftovers of a killed process there.
void require_writable(const std::filesystem::path& path);

/// Throws BadInput where writing to `path`, which `option` names, would replace the file `other`,
/// "the log". Either may be empty: there is none.
void refuse_loss(const std::filesystem::path& path, const std::filesystem::path& other,
                 const std::string& called, const std::string& option);

/// Replaces a regular file as a whole: writes beside it, flushes to the disk, renames over it.
/// Interrupts wait meanwhile. A device or a pipe is written into. After a Failure a regular file is
/// as before. Throws Interrupted where it was writing into a pipe.
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// Creates a file that begins with `text`, whole or not at all, open for writing behind it. It is
/// locked as lock_file() does from its first moment. Where a file exists already, the result is not
/// open. A device or a pipe is written into. Throws Failure.
Descriptor create_locked(const std::filesystem::path& path, std::string_view text);

/// Writes all of `text`, also after interruptions. Throws std::system_error; Interrupted.
void write_all(int file, std::string_view text);

/// Locks an open file until it is closed, against other processes that lock it. They may still read
/// and write it. False where another has locked it. A file system that knows no locks counts as
/// locked: it must not keep a user from writing.
bool lock_file(int file);

} // namespace asterope
