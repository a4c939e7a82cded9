// Reads a file that a user named.
#pragma once

#include <filesystem>
#include <string>

namespace asterope {

/// The whole of it. Throws BadInput, beginning with `what` ("profile x.json"), where it is missing,
/// unreadable, a folder, or longer than 16 MiB, which nothing we read is: /dev/zero has no end.
std::string read_text_file(const std::filesystem::path& path, const std::string& what);

} // namespace asterope
