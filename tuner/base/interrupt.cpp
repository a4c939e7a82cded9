// One handler sets a flag that the work reads between its steps; the other ends the process at
// once.
#include "base/interrupt.hpp"

#include <cstdio>
#include <unistd.h>

#include "base/error.hpp"

namespace asterope {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t noted = 0;
volatile std::sig_atomic_t* interrupted = &noted;

char last_line[64];
std::size_t last_line_length = 0;
pid_t command = 0; ///< the process that speaks; its children end without a word

void end_now(int) {
    if (getpid() == command) {
        [[maybe_unused]] const auto ignored = write(STDERR_FILENO, last_line, last_line_length);
    }
    _exit(kInterrupted);
}

void handle_signals(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    const sigset_t heeded = interrupt_signals();
    for (const int signal : kSignals) {
        if (sigismember(&heeded, signal)) sigaction(signal, &action, nullptr);
    }
}

} // namespace

sigset_t interrupt_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : kSignals) {
        struct sigaction before {};
        // nohup asks for hang-ups to be ignored, and a shell asks background programs to ignore
        // interrupts.
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        sigaddset(&signals, signal);
    }
    return signals;
}

void note_interrupts_in(volatile std::sig_atomic_t* place) {
    interrupted = place;
}

void end_on_interrupts(const char* name) {
    const int length = std::snprintf(last_line, sizeof last_line, "%.40s: interrupted\n", name);
    last_line_length = static_cast<std::size_t>(length);
    command = getpid();
    handle_signals(end_now);
    std::signal(SIGXFSZ, SIG_IGN);
}

void catch_interrupts() {
    handle_signals([](int) { *interrupted = 1; });
}

void throw_if_interrupted() {
    if (*interrupted) throw Interrupted();
}

InterruptsHeld::InterruptsHeld() {
    const sigset_t held = interrupt_signals();
    pthread_sigmask(SIG_BLOCK, &held, &before_);
}

InterruptsHeld::~InterruptsHeld() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace asterope
