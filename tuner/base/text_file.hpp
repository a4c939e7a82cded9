// Reads a file that a user named.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace asterope {

/// Editors of some systems begin a text with this mark. It does not belong to the text: all readers
/// skip it at the beginning of a file, and take it nowhere else.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Opens it for reading. A pipe does not wait for a writer: without one, it is at its end. Throws
/// BadInput, beginning with `what` ("profile x.json"), where it is missing or unreadable.
Descriptor open_to_read(const std::filesystem::path& path, const std::string& what);

/// As read(2), also after interruptions: 0 at the end. Throws BadInput, beginning with `what`.
std::size_t read_piece(int file, char* to, std::size_t room, const std::string& what);

/// To be called where an open file had nothing to read. Throws BadInput, beginning with `what`,
/// where it is a pipe: its writer has not begun, or had nothing to say.
void refuse_silent_pipe(int file, const std::string& what);

/// The whole of it, without a byte order mark. Throws BadInput, beginning with `what`, where it is
/// missing, unreadable, a folder, or a pipe that nothing writes to. It also throws beyond 16 MiB,
/// as /dev/zero has no end. Our files are all shorter.
std::string read_text_file(const std::filesystem::path& path, const std::string& what);

} // namespace asterope
