// Runs that call external code: in a child process, whose parent says which function ended or
// stopped the run.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace asterope {

/// While it lives, the function `name` is called, in any thread. Only a word in memory, for the
/// parent of a watched run to read; elsewhere it means nothing.
class Calling {
  public:
    explicit Calling(std::string_view name);
    ~Calling();
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;
};

/// Tells the parent where an external function comes from: "copy of ./libcopies.so". Several of one
/// name are all told.
void note_origin(std::string_view name, const std::string& origin);

struct WatchedRun {
    const char* command;     ///< The child's errors are printed in its name.
    std::string interrupted; ///< The message of Interrupted where the child cannot give one.

    /// The advice about a function that ended the run.
    std::string remedy = "leave it out, or repair it";
    double patience = 20; ///< Seconds until a Calling is ended, or up to half as many more.
};

/// Does `work` in a child process and returns its exit code. An exception in it becomes a line on
/// stderr. The parent sleeps meanwhile, and hands on interrupts. Throws Failure, which names the
/// called function, where the child ends or dies before its work is done, or where a Calling
/// outlasts the patience. Throws Interrupted where a call does not return a second after a signal.
int run_watched(const WatchedRun& run, const std::function<int()>& work);

} // namespace asterope
