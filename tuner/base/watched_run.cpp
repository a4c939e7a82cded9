// Parent and child share a board in memory: the child notes each function that it enters.
#include "base/watched_run.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.hpp"
#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"

namespace asterope {

namespace {

/// The child's notes, in memory that both have.
struct Board {
    std::atomic<std::uint64_t> changes{0}; ///< of `inside`
    std::atomic<int> inside{0};            ///< calls that have not returned; of several threads
    std::atomic<int> exit_code{-1};        ///< once the work is done
    volatile std::sig_atomic_t interrupted = 0;
    char name[80] = "";      ///< of the function that was called last
    char origins[2048] = ""; ///< "name\torigin\n" each
};

Board own;
Board* board = &own;

/// The origins of the functions called `name`, such as "copy of ./libcopies.so", as far as they
/// were told. Without a name: those of all, with their names.
std::string origins(const Board& said, const std::string& name = "") {
    std::istringstream lines(said.origins);
    std::string list;
    for (std::string known, origin; std::getline(lines, known, '\t') && getline(lines, origin);) {
        if (!name.empty() && name != known && !name.ends_with(' ' + known)) continue;
        list +=
            (list.empty() ? "" : " or ") + (name.empty() ? known + " (" + origin + ')' : origin);
    }
    return list;
}

/// The fate of the child, and the function that caused it.
Failure failure_of(const Board& said, const WatchedRun& run, const std::string& what) {
    const std::string name = said.inside > 0 ? said.name : "", origin = origins(said, name);
    if (!name.empty() && !origin.empty()) {
        return Failure(name + " (" + origin + ") ended the run: " + what + ": " + run.remedy);
    }
    const std::string suspects = origins(said);
    return Failure(
        what + " while " + (name.empty() ? "nothing was timed" : name + " was called") +
        (suspects.empty() ? "" : ", which is the doing of " + suspects + ": " + run.remedy));
}

[[noreturn]] void work_as_child(const sigset_t& signals, Board* shared, const WatchedRun& run,
                                const std::function<int()>& work) {
    board = shared;
    note_interrupts_in(&shared->interrupted);
    pthread_sigmask(SIG_SETMASK, &signals, nullptr);
    const int code = exit_code_of(run.command, work);
    std::fflush(nullptr);
    shared->exit_code = code; // noted before external code may do more work at the end
    const Calling calling("exit");
    std::exit(code);
}

/// Waits for the child's end, and makes one of a call that does not return. Returns the status that
/// waitpid() has; `outlasted`: the call was ended.
int watch(pid_t child, Board& said, const sigset_t& signals, double patience, bool& outlasted) {
    std::uint64_t last = 0;
    for (int unchanged = 0, status = 0;;) {
        // Looks are rare, as they take the CPU from the timed code. Two looks that find the same
        // call have this time between them. Looks are counted, since this process may have been
        // stopped with the child.
        const double seconds = said.interrupted ? 0.5 : patience / 2;
        timespec wait{};
        wait.tv_sec = static_cast<time_t>(seconds);
        wait.tv_nsec = static_cast<long>((seconds - static_cast<double>(wait.tv_sec)) * 1e9);
        const int signal = sigtimedwait(&signals, nullptr, &wait);
        const bool waited = signal < 0 && errno == EAGAIN;
        if (waitpid(child, &status, WNOHANG) == child) return status;
        if (signal > 0 && signal != SIGCHLD) {
            said.interrupted = 1; // the child's own handler may be gone
            kill(child, signal);
            unchanged = 0;
        }
        if (!waited) continue;
        const std::uint64_t now = said.changes;
        unchanged = said.inside > 0 && now == last ? unchanged + 1 : 0;
        last = now;
        outlasted = unchanged == 2;
        if (outlasted) kill(child, SIGKILL);
    }
}

} // namespace

Calling::Calling(std::string_view name) {
    board->name[name.copy(board->name, sizeof board->name - 1)] = '\0';
    ++board->inside;
    ++board->changes;
}

Calling::~Calling() {
    --board->inside;
    ++board->changes;
}

void note_origin(std::string_view name, const std::string& origin) {
    const std::string line = std::string(name) + '\t' + origin + '\n';
    const std::size_t length = std::strlen(board->origins);
    if (length + line.size() < sizeof board->origins) {
        std::strcpy(board->origins + length, line.c_str());
    }
}

int run_watched(const WatchedRun& run, const std::function<int()>& work) {
    void* memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Failure("no memory is left for this");
    Board* shared = new (memory) Board;
    std::signal(SIGCHLD, SIG_DFL); // where it is ignored, a child leaves no status
    sigset_t signals = interrupt_signals(), before;
    sigaddset(&signals, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    const pid_t child = fork_child();
    if (child == 0) work_as_child(before, shared, run, work);
    bool outlasted = false;
    const int status = watch(child, *shared, signals, run.patience, outlasted);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);

    if (shared->exit_code >= 0) return shared->exit_code;
    if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr); // the child's line of progress
    if (shared->interrupted) throw Interrupted(run.interrupted);
    if (outlasted) {
        throw failure_of(*shared, run, formatted("no return within %g s", run.patience));
    }
    if (WIFEXITED(status)) {
        throw failure_of(*shared, run,
                         "the process ended with exit code " + std::to_string(WEXITSTATUS(status)));
    }
    // Where the output's reader is gone, this ends as filters do.
    if (WTERMSIG(status) == SIGPIPE && shared->inside == 0) std::raise(SIGPIPE);
    if (WTERMSIG(status) == SIGKILL) {
        throw Failure("the run was killed, for want of memory or by somebody");
    }
    throw failure_of(*shared, run, std::string("the process died: ") + strsignal(WTERMSIG(status)));
}

} // namespace asterope
