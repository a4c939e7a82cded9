// Turns SIGINT, SIGTERM and SIGHUP into an orderly end.
#pragma once

#include <csignal>

namespace asterope {

/// From now on these signals end the program `name` at once, with one line on stderr and exit code
/// 130; ignored ones stay so. A file beyond its size limit (SIGXFSZ) no longer kills: the write
/// fails. Every command calls this first. A command that has work to save goes on to
/// catch_interrupts.
void end_on_interrupts(const char* name);

/// From now on these signals are only noted; ignored ones stay so.
void catch_interrupts();

/// The signals among these that are not ignored.
sigset_t interrupt_signals();

/// From now on they are noted there, where another process may write as well.
void note_interrupts_in(volatile std::sig_atomic_t* place);

/// Throws Interrupted if one has come. To be called between samples.
void throw_if_interrupted();

/// Holds these signals back from this thread while it lives, so that the work meanwhile is done as
/// a whole. Other threads still get them. Where a program has others, it called catch_interrupts(),
/// and a signal alone ends nothing.
class InterruptsHeld {
  public:
    InterruptsHeld();
    ~InterruptsHeld();
    InterruptsHeld(const InterruptsHeld&) = delete;
    InterruptsHeld& operator=(const InterruptsHeld&) = delete;

  private:
    sigset_t before_;
};

} // namespace asterope
