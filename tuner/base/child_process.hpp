// Other processes. A child does work that may crash or hang, answers through a pipe, and ends at
// the latest with its parent. Another function runs another program.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <system_error>
#include <vector>

#include "base/descriptor.hpp"

namespace asterope {

/// Both ends of a pipe. Throws Failure where the system refuses one.
struct Pipe {
    Pipe();
    Descriptor reading, writing;
};

/// Waits until there is something to read, or an end; false where `until` comes first. Throws
/// Interrupted.
bool wait_to_read(int file, std::chrono::steady_clock::time_point until);

/// The text that a process writes into a pipe until its end. Empty where the time is up before, or
/// there is more than 1 MiB of it. Throws Interrupted.
std::optional<std::string> read_until_end(int pipe, double seconds);

/// Waits for the end of a child; its status as waitpid() has it.
int wait_for_end(pid_t child);

/// Forks. Returns 0 in the child, which the kernel kills when its parent ends. Throws Failure where
/// no child can be had.
pid_t fork_child();

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

/// Starts `words[0]`, looked for on the PATH unless it has a slash, with the other words as its
/// arguments. `output`: where its stdout and stderr go; negative: where ours do. Throws
/// std::system_error where it cannot be started.
pid_t start_program(std::vector<std::string> words, int output = -1);

/// Runs a program to its end; `silent` drops its output. Returns its exit code, or 128 + the signal
/// that ended it.
int run_program(std::vector<std::string> words, bool silent = false);

/// Empty where /proc does not say.
inline std::filesystem::path program_folder() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

} // namespace asterope
