// Reads a file that a user named.
#include "text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "error.hpp"

namespace asterope {

std::string read_text_file(const std::filesystem::path& path, const std::string& what) {
    constexpr std::size_t kLongest = std::size_t{16} << 20;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               std::fclose);
    if (!file) throw BadInput(what + ": " + std::strerror(errno));
    std::string text;
    char piece[1 << 16];
    while (const std::size_t length = std::fread(piece, 1, sizeof piece, file.get())) {
        text.append(piece, length);
        if (text.size() > kLongest) throw BadInput(what + ": is longer than 16 MiB");
    }
    if (std::ferror(file.get())) throw BadInput(what + ": " + std::strerror(errno));
    return text;
}

} // namespace asterope
