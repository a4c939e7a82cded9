// fork and pipes; the kernel kills a child whose parent dies.
#include "base/child_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace asterope {

using Clock = std::chrono::steady_clock;

Pipe::Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw Failure(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
}

bool wait_to_read(int file, Clock::time_point until) {
    for (;;) {
        throw_if_interrupted();
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        pollfd waiting{file, POLLIN, 0};
        const int ready = left <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(left));
        if (ready >= 0 || errno != EINTR) return ready > 0;
    }
}

std::optional<std::string> read_until_end(int pipe, double seconds) {
    constexpr std::size_t kLongest = std::size_t{1} << 20;
    const auto patience = std::chrono::duration<double>(seconds);
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    std::string text;
    while (text.size() < kLongest && wait_to_read(pipe, until)) {
        char piece[4096];
        const ssize_t count = read(pipe, piece, sizeof piece);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return text;
        text.append(piece, static_cast<std::size_t>(count));
    }
    return std::nullopt;
}

int wait_for_end(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

pid_t fork_child() {
    const pid_t parent = getpid();
    std::fflush(nullptr); // otherwise both processes would write the buffers' text
    const pid_t child = fork();
    if (child < 0) throw Failure(std::string("cannot start a process: ") + std::strerror(errno));
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kFailed);
    return 0;
}

ChildProcess::ChildProcess(const std::function<void(int answers)>& work) {
    Pipe pipe;
    answers_ = std::move(pipe.reading);
    pid_ = fork_child();
    if (pid_ > 0) return;
    // In the child, which must not return into the parent's functions.
    std::signal(SIGINT, SIG_IGN); // a terminal sends it to all
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGHUP, SIG_DFL);
    try {
        work(pipe.writing.get());
    } catch (...) {
        _exit(kFailed);
    }
    _exit(kDone);
}

ChildProcess::~ChildProcess() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    wait();
}

int ChildProcess::wait() {
    return wait_for_end(std::exchange(pid_, -1));
}

pid_t start_program(std::vector<std::string> words, int output) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, stream);
    }
    pid_t child = 0;
    const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) throw std::system_error(error, std::generic_category());
    return child;
}

int run_program(std::vector<std::string> words, bool silent) {
    const Descriptor nowhere(silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1);
    const int status = wait_for_end(start_program(std::move(words), nowhere.get()));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace asterope
