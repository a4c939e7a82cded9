// Opens without waiting for a pipe's writer, refuses a silent pipe, and skips a byte order mark.
#include "base/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/error.hpp"

namespace asterope {

Descriptor open_to_read(const std::filesystem::path& path, const std::string& what) {
    Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file) throw BadInput(what + ": " + std::strerror(errno));
    fcntl(file.get(), F_SETFL, 0); // only opening must not wait
    return file;
}

std::size_t read_piece(int file, char* to, std::size_t room, const std::string& what) {
    for (;;) {
        const ssize_t length = read(file, to, room);
        if (length >= 0) return static_cast<std::size_t>(length);
        if (errno != EINTR) throw BadInput(what + ": " + std::strerror(errno));
    }
}

void refuse_silent_pipe(int file, const std::string& what) {
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISFIFO(status.st_mode)) {
        throw BadInput(what + ": is a pipe that nothing was written to; start its writer first");
    }
}

std::string read_text_file(const std::filesystem::path& path, const std::string& what) {
    constexpr std::size_t kLongest = std::size_t{16} << 20;
    const Descriptor file = open_to_read(path, what);
    std::string text;
    char piece[1 << 16];
    while (const std::size_t length = read_piece(file.get(), piece, sizeof piece, what)) {
        text.append(piece, length);
        if (text.size() > kLongest) throw BadInput(what + ": is longer than 16 MiB");
    }
    if (text.empty()) refuse_silent_pipe(file.get(), what);
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    return text;
}

} // namespace asterope
