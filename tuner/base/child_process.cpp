// A child process for what may crash or hang: it does one piece of work, answers through a pipe,
// and ends at the latest with the process that started it.
#include "base/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"

namespace asterope {

ChildProcess::ChildProcess(const std::function<void(int answers)>& work) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw Failure(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    answers_ = Descriptor(ends[0]);
    const Descriptor writing(ends[1]);
    const pid_t parent = getpid();
    std::fflush(nullptr); // or both would write what is still in the buffers
    pid_ = fork();
    if (pid_ < 0) throw Failure(std::string("cannot start a process: ") + std::strerror(errno));
    if (pid_ > 0) return;
    // In the child, which must not return into the parent's functions.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kFailed);
    std::signal(SIGINT, SIG_IGN); // a terminal sends it to all
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGHUP, SIG_DFL);
    try {
        work(writing.get());
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
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
}

} // namespace asterope
