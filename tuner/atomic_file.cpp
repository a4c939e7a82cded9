// Files that are there whole or not at all.
#include "atomic_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "error.hpp"

namespace asterope {

namespace {

std::string reason() {
    return std::strerror(errno);
}

/// A new file beside `path`: descriptor and name. Descriptor -1 on failure, errno set.
int open_beside(const std::filesystem::path& path, std::string& name) {
    name = path.string() + ".XXXXXX";
    return mkostemp(name.data(), O_CLOEXEC);
}

} // namespace

void require_writable(const std::filesystem::path& path) {
    if (path.empty()) throw BadInput("cannot write a file without a name: name one");
    struct stat status;
    if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        throw BadInput("cannot write " + path.string() + ": it is a folder; name a file");
    }
    std::string name;
    const int file = open_beside(path, name);
    if (file < 0) {
        throw BadInput("cannot write " + path.string() + ": " + reason() +
                       "; name a file in a folder that exists and is yours");
    }
    close(file);
    unlink(name.c_str());
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
    std::string name;
    const int file = open_beside(path, name);
    if (file < 0) throw Failure("cannot write " + path.string() + ": " + reason());
    const auto give_up = [&](bool is_open) {
        const std::string why = reason();
        if (is_open) close(file);
        unlink(name.c_str());
        return Failure("cannot write " + path.string() + ": " + why);
    };
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw give_up(true);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    const mode_t mask = umask(0); // mkostemp makes files private; ours are as any other
    umask(mask);
    if (fchmod(file, 0666 & ~mask) != 0 || fsync(file) != 0) throw give_up(true);
    if (close(file) != 0) throw give_up(false);
    if (rename(name.c_str(), path.c_str()) != 0) throw give_up(false);
}

} // namespace asterope
