// Which libc this is, and where its memcpy changes its way of copying.
#include "machine/libc.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "machine/system_text.hpp"

namespace asterope {

namespace {

/// What a program writes to its standard output and error. Where it cannot be run, or takes longer
/// than two seconds: empty, and `why`. No shell: nothing is to be interpreted. No /dev/null either:
/// it is not everywhere.
std::string output_of(const std::string& program, const std::string& argument, std::string& why) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        why = std::strerror(errno);
        return {};
    }

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::string name = program, option = argument;
    char* const arguments[] = {name.data(), option.data(), nullptr};
    pid_t child = -1;
    const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    std::string output;
    if (failed) {
        why = std::strerror(failed);
    } else {
        using Clock = std::chrono::steady_clock;
        const auto deadline = Clock::now() + std::chrono::seconds(2);
        bool ended = false;
        while (!ended && output.size() < 1 << 20) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
            if (left.count() <= 0) break;
            pollfd waiting{ends[0], POLLIN, 0};
            if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
            std::array<char, 4096> piece;
            const ssize_t count = read(ends[0], piece.data(), piece.size());
            if (count > 0) output.append(piece.data(), static_cast<std::size_t>(count));
            ended = count == 0 || (count < 0 && errno != EINTR);
        }
        if (!ended) {
            output.clear();
            why = "takes longer than two seconds";
        }
        kill(child, SIGKILL); // for one that hangs; one that is done does not feel it
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return output;
}

/// Whether this libc's loader knows --list-tunables.
bool lists_tunables() {
#ifdef __GLIBC__
    int major = 0, minor = 0;
    return std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(2, 33);
#else
    return false; // musl's loader would take the option for a program to run
#endif
}

} // namespace

std::string program_interpreter() {
    std::string interpreter;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* found) {
            for (int i = 0; i < object->dlpi_phnum; ++i) {
                const auto& header = object->dlpi_phdr[i];
                if (header.p_type == PT_INTERP)
                    *static_cast<std::string*>(found) =
                        reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
            }
            return 1; // the program itself comes first; the libraries do not matter
        },
        &interpreter);
    return interpreter;
}

std::string read_libc(const std::string& interpreter) {
#ifdef __GLIBC__
    (void)interpreter;
    return std::string("glibc ") + gnu_get_libc_version();
#else
    // musl has no macro to be known by, on purpose; its loader has a name.
    return interpreter.find("ld-musl") != std::string::npos ? "musl" : "unknown";
#endif
}

std::map<std::string, std::size_t> read_libc_thresholds(const std::string& interpreter,
                                                        std::string& why) {
    std::map<std::string, std::size_t> thresholds;
    if (interpreter.empty() || !lists_tunables()) return thresholds;
    const std::string listing = output_of(interpreter, "--list-tunables", why);
    if (why.empty() && listing.find("glibc.") == std::string::npos) why = "lists none";
    if (!why.empty()) why = interpreter + " --list-tunables: " + why;
    for (const char* name : {"x86_non_temporal_threshold", "x86_rep_movsb_threshold"}) {
        const std::string value = value_of(listing, std::string("glibc.cpu.") + name);
        if (value.rfind("0x", 0) != 0) continue;
        if (const auto bytes = number(value.substr(2), 16))
            thresholds[name] = static_cast<std::size_t>(*bytes);
    }
    return thresholds;
}

} // namespace asterope
