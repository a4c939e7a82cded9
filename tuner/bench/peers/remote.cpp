// glibc's memcpy with its tunables set: timed in a process of its own, as they are read only when a
// process starts.
#include "bench/peers/remote.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "machine/affinity.hpp"
#include "machine/machine.hpp"
#include "timing/arena.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

namespace {

constexpr const char* kServe = "--serve-trials";
constexpr std::string_view kVariable = "GLIBC_TUNABLES=";

// One message each way at a time, whole or not at all (SOCK_SEQPACKET): RemoteSetup and its answer,
// then Request and Answer for each trial.

struct Request {
    std::size_t size, calls;
    std::uint64_t round;
    Workload workload;
};

struct Answer {
    double seconds = 0;
    int exit_code = kDone; ///< of an error that `text` names
    char text[512] = "";   ///< to RemoteSetup: the thresholds that hold
};

template <class Message> bool send_message(int socket, const Message& message) {
    return send(socket, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

/// False where the other end is gone.
template <class Message> bool receive_message(int socket, Message& message) {
    for (;;) {
        const ssize_t count = recv(socket, &message, sizeof message, 0);
        if (count >= 0 || errno != EINTR) return count == sizeof message;
        throw_if_interrupted();
    }
}

/// Waits for a request, so long as one can come, and answers it with what `work` makes of it.
template <class Message, class Work> bool answer(int socket, const Work& work) {
    Message message;
    if (!receive_message(socket, message)) return false;
    Answer answer;
    try {
        work(message, answer);
    } catch (const Error& error) {
        answer.exit_code = error.exit_code();
        std::strncpy(answer.text, error.what(), sizeof answer.text - 1);
    }
    return send_message(socket, answer) && answer.exit_code == kDone;
}

/// The other process's error as if it were ours, if there is one.
void throw_error_of(const Answer& answer) {
    if (answer.exit_code == kBadInput) throw BadInput(answer.text);
    if (answer.exit_code != kDone) throw Failure(answer.text);
}

void serve(int socket) {
    std::optional<Arena> arena;
    std::optional<Stopwatch> stopwatch;
    const bool ready = answer<RemoteSetup>(socket, [&](const RemoteSetup& setup, Answer& answer) {
        const Machine machine = read_machine();
        // bounded: a text of two numbers
        std::strncpy(answer.text, tunables_text(machine.libc_thresholds).c_str(),
                     sizeof answer.text - 1);
        pin_to_cpu(setup.cpu);
        start_clock(machine.cpu.invariant_tsc);
        arena.emplace(setup.arena_bytes);
        stopwatch.emplace(*arena, setup.largest_size, setup.cache_bytes);
    });
    if (!ready) return;
    int cache_effect = 0; // another one each time
    while (answer<Request>(socket, [&](const Request& request, Answer& answer) {
        stopwatch->set_calibration(request.size, request.workload, {request.calls, 0});
        answer.seconds = stopwatch->time({libc_copy(), 0, ++cache_effect}, request.workload,
                                         request.size, request.round);
    })) {
    }
}

/// This environment with the tunables added; those that it sets already come first, so that ours
/// count.
std::vector<std::string> environment_with(const std::string& tunables) {
    std::vector<std::string> environment;
    std::string ours(kVariable);
    for (char** variable = environ; *variable; ++variable) {
        if (std::string_view(*variable).substr(0, kVariable.size()) == kVariable) {
            ours = std::string(*variable) + ':';
        } else {
            environment.push_back(*variable);
        }
    }
    if (!tunables.empty()) environment.push_back(ours + tunables);
    return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Starts this program again with the other end of a socket.
pid_t start(int socket, const std::string& tunables) {
    std::vector<std::string> arguments = {"asterope-bench", kServe, std::to_string(socket)};
    std::vector<std::string> environment = environment_with(tunables);
    const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(environment);
    const pid_t parent = getpid();
    // vfork: fork would leave every page of the buffers to fault once more in a timed copy.
    // posix_spawn cannot ask for the parent-death signal.
    const pid_t child = vfork();
    if (child != 0) return child;
    fcntl(socket, F_SETFD, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) execve("/proc/self/exe", argv.data(), envp.data());
    _exit(127);
}

} // namespace

std::string tunables_text(const LibcThresholds& thresholds) {
    std::string text;
    for (const auto& [name, bytes] : thresholds) {
        if (!text.empty()) text += ':';
        text += "glibc.cpu." + name + '=' + std::to_string(bytes);
    }
    return text;
}

RemoteCopy::RemoteCopy(const LibcThresholds& thresholds, const RemoteSetup& setup) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        throw Failure(std::string("no socket to time glibc's tunables through: ") +
                      std::strerror(errno));
    }
    process_ = start(ends[1], tunables_text(thresholds));
    const int error = errno;
    close(ends[1]);
    socket_ = ends[0];
    if (process_ < 0) {
        close(socket_);
        throw Failure(std::string("cannot start a process to time glibc's tunables in: ") +
                      std::strerror(error));
    }
    Answer answer;
    try {
        if (!send_message(socket_, setup) || !receive_message(socket_, answer)) {
            throw Failure("the process to time glibc's tunables in does not come up");
        }
        throw_error_of(answer);
        const std::string there = std::string(":") + answer.text + ':';
        for (const auto& threshold : thresholds) {
            const std::string wanted = tunables_text({threshold});
            if (there.find(':' + wanted + ':') == std::string::npos) {
                throw BadInput("glibc does not take " + wanted +
                               ": 'ld.so --list-tunables' shows what it knows, and the limits");
            }
        }
    } catch (...) {
        end();
        throw;
    }
}

RemoteCopy::~RemoteCopy() {
    end();
}

void RemoteCopy::end() {
    close(socket_); // it would leave by itself, but not before a trial is done
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

double RemoteCopy::time(std::size_t size, Workload workload, std::uint64_t round,
                        std::size_t calls) {
    const Request request{size, calls, round, workload};
    Answer answer;
    if (!send_message(socket_, request) || !receive_message(socket_, answer)) {
        throw_if_interrupted(); // what ended us may have ended it too
        throw Failure("the process that timed glibc's tunables has died");
    }
    throw_error_of(answer);
    return answer.seconds;
}

std::optional<int> serve_trials(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != kServe) return std::nullopt;
    return run_command("asterope-bench", [&]() -> int {
        int socket = -1, type = 0;
        socklen_t length = sizeof type;
        if (argc == 3) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), socket);
        if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
            throw BadInput(std::string(kServe) + " is for asterope-bench itself");
        }
        serve(socket);
        return kDone;
    });
}

} // namespace asterope
