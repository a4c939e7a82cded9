// A child process for what may crash or hang: it does one piece of work, answers through a pipe,
// and ends at the latest with the process that started it.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include "base/descriptor.hpp"

namespace asterope {

/// What a process writes into a pipe, until its end or until the time is up; at most 1 MiB.
struct WrittenText {
    std::string text;
    bool ended; ///< the pipe was closed in time
};
/// Throws Interrupted.
WrittenText read_until_end(int pipe, double seconds);

class ChildProcess {
  public:
    /// Calls `work` in the child, with the pipe's end to write answers to; the child exits with 0
    /// afterwards, or with 1 where it throws. A terminal's interrupt is left to the parent. Throws
    /// Failure where no child can be had.
    explicit ChildProcess(const std::function<void(int answers)>& work);
    /// Ends it, if it has not ended.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    pid_t pid() const { return pid_; }
    /// To read answers from; at the end of the file where the child has ended.
    int answers() const { return answers_.get(); }
    /// Waits for its end; its status as waitpid() has it.
    int wait();

  private:
    pid_t pid_;
    Descriptor answers_;
};

} // namespace asterope
