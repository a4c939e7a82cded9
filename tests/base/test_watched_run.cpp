// Runs that call external code end with a right report of all that this code does.
#include "base/watched_run.hpp"

#include <csignal>
#include <unistd.h>

#include "base/interrupt.hpp"
#include "support/unit_test.hpp"

namespace {

const WatchedRun kRun{"asterope-some", "interrupted here", "leave it out", 0.2};

/// The error of a watched run that calls `code` by the name of a copy whose origin is known.
std::string said_of(const std::function<void()>& code, const std::string& name = "reference new") {
    try {
        const int exit_code = run_watched(kRun, [&] {
            note_origin("new", "f of a.so");
            {
                const Calling calling(name);
                code();
            }
            return 3;
        });
        return std::to_string(exit_code);
    } catch (const Error& error) {
        return std::to_string(error.exit_code()) + ' ' + error.what();
    }
}

} // namespace

TEST(RunWatched, returns_the_exit_code_of_its_work_and_names_the_call_that_ends_it) {
    const std::string ended = "1 reference new (f of a.so) ended the run: ";
    const std::pair<std::function<void()>, std::string> cases[] = {
        {[] {}, "3"},
        {[] { std::atexit([] { _exit(0); }); }, "3"},
        {[] { std::atexit([] { pause(); }); }, "3"},
        {[] { throw BadInput("told by the child"); }, "2"},
        {[] { std::exit(0); }, ended + "the process ended with exit code 0: leave it out"},
        {[] { raise(SIGFPE); }, ended + "the process died: Floating point exception: leave it out"},
        {[] { raise(SIGSTOP); }, ended + "no return within 0.2 s: leave it out"},
        {[] { pause(); }, ended + "no return within 0.2 s: leave it out"},
        {[] { raise(SIGKILL); }, "1 the run was killed, for want of memory or by somebody"},
        {[] {
             catch_interrupts();
             kill(getppid(), SIGTERM);
             for (;;) pause();
         },
         "130 interrupted here"},
        {[] { // deaf, but it returns
             std::signal(SIGTERM, SIG_IGN);
             kill(getppid(), SIGTERM);
             for (;;) throw_if_interrupted();
         },
         "130"},
    };
    for (const auto& [code, said] : cases) EXPECT_EQ(said_of(code), said);
}

TEST(RunWatched, blames_no_call_for_the_fault_of_another_function) {
    const std::string doing = ", which is the doing of new (f of a.so): leave it out";
    EXPECT_EQ(said_of([] { raise(SIGALRM); }, "libc"),
              "1 the process died: Alarm clock while libc was called" + doing);
}

TEST(RunWatched, ends_by_the_same_signal_as_its_work_when_nobody_reads_its_output) {
    const auto write_to_nobody = [] { return raise(SIGPIPE); };
    EXPECT_EXIT(run_watched(kRun, write_to_nobody), testing::KilledBySignal(SIGPIPE), "");
}
