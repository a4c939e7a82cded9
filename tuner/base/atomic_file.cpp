// A temporary file beside the target is locked, flushed and renamed. Leftovers of killed runs go.
#include "base/atomic_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace asterope {

namespace fs = std::filesystem;

namespace {

std::system_error system_error(int number = errno) {
    return std::system_error(number, std::generic_category());
}

Failure cannot_write(const fs::path& path, const std::system_error& why) {
    return Failure("cannot write " + path.string() + ": " + why.code().message());
}

/// N where `path` is this process's /proc/self/fd/N, also by way of /dev/fd; else -1.
int own_descriptor(const fs::path& path) {
    std::error_code missing;
    const fs::path folder = fs::canonical(path.parent_path(), missing);
    if (missing || folder != fs::canonical("/proc/self/fd", missing)) return -1;
    const std::string name = path.filename().string();
    int number = -1;
    const char* end = name.data() + name.size();
    return std::from_chars(name.data(), end, number).ptr == end ? number : -1;
}

/// A temporary file is called ".NAME.XXXXXX.tmp"; the Python commands do the same.
constexpr std::string_view kRandom = "XXXXXX", kEnd = ".tmp";

std::string temporary_start(const fs::path& target) {
    return std::string(".").append(target.filename().string()).append(".");
}

bool is_temporary_of(const fs::path& target, std::string_view name) {
    const std::string start = temporary_start(target);
    if (name.size() != start.size() + kRandom.size() + kEnd.size()) return false;
    const std::string_view random = name.substr(start.size(), kRandom.size());
    return name.starts_with(start) && name.ends_with(kEnd) &&
           std::ranges::all_of(random, [](unsigned char c) { return isalnum(c); });
}

fs::path folder_of(const fs::path& file) {
    const fs::path folder = file.parent_path();
    return folder.empty() ? "." : folder;
}

/// Removes the temporary files of processes that were killed: no process holds their locks any
/// more.
void remove_leftovers(const fs::path& target) {
    std::error_code error;
    for (fs::directory_iterator entry(folder_of(target), error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path& path = entry->path();
        if (!is_temporary_of(target, path.filename().string())) continue;
        const Descriptor file(
            open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
        struct stat status;
        if (file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
            flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
            unlink(path.c_str());
        }
    }
}

/// A new file beside one that it is to become; gone with this, unless it became it. Interrupts are
/// held back as long, so that they do not leave it behind.
class Beside {
  public:
    /// Throws std::system_error.
    explicit Beside(const fs::path& target) : target_(target) {
        remove_leftovers(target);
        struct stat status;
        do { // another process may take it for a leftover before it is locked
            name_ = (folder_of(target) / temporary_start(target)).string();
            name_.append(kRandom).append(kEnd);
            file_ = Descriptor(mkostemps(name_.data(), static_cast<int>(kEnd.size()), O_CLOEXEC));
            if (!file_) throw system_error();
            flock(file_.get(), LOCK_EX);
        } while (fstat(file_.get(), &status) == 0 && status.st_nlink == 0);
    }
    ~Beside() {
        if (!name_.empty()) unlink(name_.c_str());
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

    /// Throws std::system_error.
    void write(std::string_view text) {
        write_all(file_.get(), text);
        const mode_t mask = umask(0); // mkostemps makes files private; ours are as any other
        umask(mask);
        if (fchmod(file_.get(), 0666 & ~mask) != 0 || fsync(file_.get()) != 0) throw system_error();
    }

    /// Throws std::system_error.
    void replace_target() {
        if (rename(name_.c_str(), target_.c_str()) != 0) throw system_error();
        name_.clear();
    }

    /// Becomes the target as replace_target does, but returns false where the target exists. Throws
    /// std::system_error.
    bool become_target() {
        if (link(name_.c_str(), target_.c_str()) == 0) return true;
        if (errno == EEXIST) return false;
        struct stat status; // a file system without links
        if (lstat(target_.c_str(), &status) == 0) return false;
        replace_target();
        return true;
    }

    Descriptor take_file() { return std::move(file_); }

  private:
    const InterruptsHeld held_;
    const fs::path target_;
    std::string name_;
    Descriptor file_;
};

/// The place where text for a path lands.
struct WriteTarget {
    fs::path file;           ///< behind all symbolic links, also where nothing is there yet
    bool replaceable = true; ///< see is_replaceable()
    int descriptor = -1;     ///< of this process, for /dev/stdout and /dev/fd/N
};

/// Throws std::system_error: a loop of links, a folder, a link that the system forbids to follow.
WriteTarget find_target(const fs::path& path) {
    struct stat status;
    // The system's own word first: it knows which links must not be followed (in /tmp, those of
    // others), and when they go round in a circle.
    if (stat(path.c_str(), &status) != 0 && errno != ENOENT) throw system_error();
    WriteTarget target{path};
    constexpr int kMostLinks = 40; // the system's own limit; another process may be changing them
    for (int links = 0; links <= kMostLinks; ++links) {
        target.descriptor = own_descriptor(target.file);
        if (target.descriptor >= 0) break;
        if (lstat(target.file.c_str(), &status) != 0) {
            if (errno == ENOENT) return target;
            throw system_error();
        }
        if (!S_ISLNK(status.st_mode)) break;
        target.file = folder_of(target.file) / fs::read_symlink(target.file);
    }
    target.replaceable = target.descriptor < 0 && S_ISREG(status.st_mode);
    if (target.replaceable || target.descriptor >= 0) return target;
    if (S_ISDIR(status.st_mode)) throw system_error(EISDIR);
    if (S_ISLNK(status.st_mode)) throw system_error(ELOOP);
    return target;
}

/// Opens a device or a pipe for writing. Throws std::system_error; Failure.
Descriptor open_in_place(const WriteTarget& target) {
    if (target.descriptor >= 0) {
        Descriptor file(fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0));
        if (!file) throw system_error();
        return file;
    }
    // It does not block: opening a pipe without a reader would wait for ever.
    Descriptor file(open(target.file.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file && errno == ENXIO) {
        throw Failure("cannot write " + target.file.string() +
                      ": nothing reads this pipe or socket; start its reader first");
    }
    if (!file) throw system_error();
    fcntl(file.get(), F_SETFL, 0);
    return file;
}

/// A reader that goes away would kill us without a word.
class PipeSignalIgnored {
  public:
    PipeSignalIgnored() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
    ~PipeSignalIgnored() { std::signal(SIGPIPE, before_); }
    PipeSignalIgnored(const PipeSignalIgnored&) = delete;
    PipeSignalIgnored& operator=(const PipeSignalIgnored&) = delete;

  private:
    void (*before_)(int);
};

} // namespace

bool is_replaceable(const fs::path& path) {
    try {
        return find_target(path).replaceable;
    } catch (const std::system_error&) {
        return true;
    }
}

void refuse_loss(const fs::path& path, const fs::path& other, const std::string& called,
                 const std::string& option) {
    if (!is_replaceable(path)) return; // a terminal may well be both
    std::error_code none;
    const fs::path one = fs::weakly_canonical(fs::absolute(path, none), none);
    if (one.empty() || one != fs::weakly_canonical(fs::absolute(other, none), none)) return;
    throw BadInput(path.string() + ": is " + called + ", and would be lost: choose another " +
                   option);
}

void write_all(int file, std::string_view text) {
    const PipeSignalIgnored ignored;
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
            continue;
        }
        if (errno == EAGAIN) { // a standard output that its other users do not wait for
            pollfd ready{file, POLLOUT, 0};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            throw system_error();
        }
        throw_if_interrupted();
    }
}

bool lock_file(int file) {
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void require_writable(const fs::path& path) {
    if (path.empty()) throw BadInput("cannot write a file without a name: name one");
    const std::string what = "cannot write " + path.string() + ": ";
    try {
        const WriteTarget target = find_target(path);
        if (target.replaceable) {
            const Beside file(target.file);
        } else if (target.descriptor >= 0) {
            const int flags = fcntl(target.descriptor, F_GETFL);
            if (flags < 0) throw system_error();
            if ((flags & O_ACCMODE) == O_RDONLY) throw system_error(EBADF);
        } else if (access(target.file.c_str(), W_OK) != 0) { // opened, it would be used already
            throw system_error();
        }
    } catch (const std::system_error& why) {
        if (why.code().value() == EISDIR) throw BadInput(what + "it is a folder; name a file");
        if (why.code().value() == ELOOP) {
            throw BadInput(what + "its symbolic links lead round in a circle; name a file");
        }
        throw BadInput(what + why.code().message() +
                       "; name a file in a folder that exists and is yours");
    }
}

void write_atomically(const fs::path& path, std::string_view text) {
    try {
        const WriteTarget target = find_target(path);
        if (!target.replaceable) return write_all(open_in_place(target).get(), text);
        Beside file(target.file);
        file.write(text);
        file.replace_target();
    } catch (const std::system_error& why) {
        throw cannot_write(path, why);
    }
}

Descriptor create_locked(const fs::path& path, std::string_view text) {
    try {
        const WriteTarget target = find_target(path);
        if (!target.replaceable) {
            Descriptor file = open_in_place(target);
            write_all(file.get(), text);
            return file;
        }
        Beside file(target.file);
        file.write(text);
        return file.become_target() ? file.take_file() : Descriptor();
    } catch (const std::system_error& why) {
        throw cannot_write(path, why);
    }
}

} // namespace asterope
