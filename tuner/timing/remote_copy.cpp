// Two processes talk over a socket: fixed structures as requests and answers, one sample a request.
#include "timing/remote_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "machine/affinity.hpp"
#include "machine/cpu.hpp"
#include "machine/libc.hpp"
#include "timing/arena.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

struct RemoteCopy::Request {
    std::size_t size;
    Workload workload;
    std::uint64_t round;
    Calibration calibration; ///< 0 calls: it is asked for
};

struct RemoteCopy::Answer {
    double seconds = 0;
    Calibration calibration{};
    unsigned disturbances = 0; ///< a bit each
    int exit_code = kDone;     ///< of an error that `text` names
    char text[1024] = "";      ///< to RemoteSetup: the thresholds that hold

    void set_text(const std::string& words) { std::strncpy(text, words.c_str(), sizeof text - 1); }
};

namespace {

constexpr const char* kServe = "--serve-trials";
constexpr const char* kVariable = "GLIBC_TUNABLES";

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

/// Waits for a request, as long as one can come, and sends the answer that `work` fills in.
template <class Message, class Answer, class Work> bool serve_one(int socket, const Work& work) {
    Message message;
    if (!receive_message(socket, message)) return false;
    Answer answer;
    try {
        work(message, answer);
    } catch (const Error& error) {
        answer.exit_code = error.exit_code();
        answer.set_text(error.what());
    }
    return send_message(socket, answer) && answer.exit_code == kDone;
}

unsigned bits_of(const std::vector<Disturbance>& disturbances) {
    unsigned bits = 0;
    for (const Disturbance one : disturbances) bits |= 1u << static_cast<unsigned>(one);
    return bits;
}

/// The thresholds of memcpy and memset that hold in this process.
LibcThresholds thresholds_here() {
    const std::string interpreter = program_interpreter();
    LibcThresholds thresholds;
    std::string why; // it does not matter: a missing tunable that was asked for is named
    for (const auto& [name, tunable] : read_tunables(interpreter, why)) {
        if (name.ends_with("_threshold")) thresholds[name] = tunable.value;
    }
    const std::size_t stop = read_rep_movsb_stop(interpreter);
    if (stop > 0) thresholds.emplace(kRepMovsbStopThreshold, stop);
    return thresholds;
}

/// The opposite of tunables_text.
LibcThresholds parse_thresholds(std::string_view text) {
    LibcThresholds thresholds;
    for (const std::string_view one : split(text, ':')) {
        const std::size_t sign = one.find('=');
        if (sign == std::string_view::npos || !one.starts_with(kTunableGroup)) continue;
        std::size_t value = 0;
        std::from_chars(one.data() + sign + 1, one.data() + one.size(), value);
        thresholds[std::string(one.substr(kTunableGroup.size(), sign - kTunableGroup.size()))] =
            value;
    }
    return thresholds;
}

/// In the child process: starts this program again with the other end of a socket.
[[noreturn]] void start_again(int socket, const LibcThresholds& thresholds) {
    const std::string tunables = tunables_variable(thresholds);
    if (tunables.empty()) {
        unsetenv(kVariable);
    } else {
        setenv(kVariable, tunables.c_str(), 1);
    }
    fcntl(socket, F_SETFD, 0);
    execl("/proc/self/exe", program_invocation_short_name, kServe, std::to_string(socket).c_str(),
          nullptr);
    throw Failure("cannot be started again");
}

} // namespace

std::string tunables_text(const LibcThresholds& thresholds) {
    const auto text = [](const auto& one) {
        return std::string(kTunableGroup) + one.first + '=' + std::to_string(one.second);
    };
    return joined(thresholds, text, ":");
}

std::string tunables_variable(const LibcThresholds& thresholds) {
    const char* const here = std::getenv(kVariable);
    std::vector<std::string> all;
    for (const std::string_view one : split(here ? here : "", ':')) {
        const bool ours = std::ranges::any_of(thresholds, [&](const auto& pair) {
            return one.substr(0, one.find('=')) == std::string(kTunableGroup) + pair.first;
        });
        if (!ours && !one.empty()) all.emplace_back(one);
    }
    if (!thresholds.empty()) all.push_back(tunables_text(thresholds));
    return joined(all, std::identity(), ":");
}

template <class Message>
RemoteCopy::Answer RemoteCopy::ask(const Message& message, const std::string& gone) {
    Answer answer;
    const bool sent = send_message(socket_.get(), message);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(patience_);
    if (sent && !wait_to_read(socket_.get(), until)) {
        throw Failure("the process that times glibc's tunables has not answered for " +
                      std::to_string(patience_) + " seconds: it hangs, or was stopped");
    }
    if (!sent || !receive_message(socket_.get(), answer)) {
        throw_if_interrupted(); // the signal that ended us may have ended it too
        throw Failure("the process " + gone);
    }
    // The other process's error as if it were ours.
    if (answer.exit_code == kBadInput) throw BadInput(answer.text);
    if (answer.exit_code != kDone) throw Failure(answer.text);
    return answer;
}

// One message each way at a time, whole or not at all (SOCK_SEQPACKET): RemoteSetup and its answer,
// then Request and Answer for each sample.

RemoteCopy::RemoteCopy(const LibcThresholds& thresholds, const RemoteSetup& setup)
    : patience_(setup.patience) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        throw Failure(std::string("no socket to time glibc's tunables through: ") +
                      std::strerror(errno));
    }
    socket_ = Descriptor(ends[0]);
    Descriptor its_end(ends[1]);
    process_.emplace([&](int) { start_again(its_end.get(), thresholds); });
    its_end = Descriptor(); // otherwise its death would not be seen
    const Answer answer = ask(setup, "that is to time glibc's tunables does not start");
    thresholds_ = parse_thresholds(answer.text);
    for (const auto& threshold : thresholds) {
        const auto there = thresholds_.find(threshold.first);
        if (there == thresholds_.end() || there->second != threshold.second) {
            throw BadInput("glibc does not take " + tunables_text({threshold}) +
                           ": 'ld.so --list-tunables' shows its tunables and their limits");
        }
    }
}

double RemoteCopy::time(std::size_t size, Workload workload, std::uint64_t round,
                        const Calibration& calibration) {
    const Answer answer = ask(Request{size, workload, round, calibration});
    disturbances_ = answer.disturbances;
    return answer.seconds;
}

Calibration RemoteCopy::calibrate(std::size_t size, Workload workload) {
    return ask(Request{size, workload, 0, {0, 0}}).calibration;
}

std::vector<Disturbance> RemoteCopy::disturbances() const {
    std::vector<Disturbance> disturbances;
    for (const Disturbance one : kDisturbances) {
        if (disturbances_ & bits_of({one})) disturbances.push_back(one);
    }
    return disturbances;
}

void RemoteCopy::serve(int socket) {
    std::optional<Arena> arena;
    std::optional<Stopwatch> stopwatch;
    std::optional<DisturbanceMonitor> monitor;
    const bool ready =
        serve_one<RemoteSetup, Answer>(socket, [&](const RemoteSetup& setup, Answer& answer) {
            answer.set_text(tunables_text(thresholds_here()));
            const int cpu = pin_to_cpu(setup.cpu);
            start_clock(read_cpu().invariant_tsc);
            arena.emplace(setup.arena_bytes);
            stopwatch.emplace(*arena, setup.largest_size, setup.cache_bytes);
            monitor.emplace(cpu);
        });
    if (!ready) return;
    int cache_effect = 0; // another one each time
    while (serve_one<Request, Answer>(socket, [&](const Request& request, Answer& answer) {
        const auto& [size, workload, round, calibration] = request;
        if (calibration.calls == 0) {
            stopwatch->calibrate(size, workload, sample_seconds(workload));
            answer.calibration = stopwatch->calibration(size, workload);
            return;
        }
        stopwatch->set_calibration(size, workload, calibration);
        monitor->begin_round();
        answer.seconds = stopwatch->time({libc_copy(), 0, ++cache_effect}, workload, size, round);
        answer.disturbances = bits_of(monitor->end_round());
    })) {
    }
}

std::optional<int> serve_samples(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != kServe) return std::nullopt;
    // Interrupts are for the process that started this one, which ends it. SIGINT is ignored
    // already.
    for (const int interrupt : {SIGTERM, SIGHUP}) std::signal(interrupt, SIG_IGN);
    return run_command(program_invocation_short_name, [&]() -> int {
        int socket = -1, type = 0;
        socklen_t length = sizeof type;
        if (argc == 3) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), socket);
        if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
            throw BadInput(std::string(kServe) + " is for this program itself");
        }
        RemoteCopy::serve(socket);
        return kDone;
    });
}

} // namespace asterope
