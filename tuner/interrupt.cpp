// Turns SIGINT, SIGTERM and SIGHUP into an orderly end.
#include "interrupt.hpp"

#include <csignal>

#include "error.hpp"

namespace asterope {

namespace {
volatile std::sig_atomic_t interrupted = 0;
} // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        // nohup asks for hang-ups to be ignored, a shell for interrupts of what is in the
        // background.
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        sigaction(signal, &action, nullptr);
    }
    // A file that grows beyond its limit: write() then says so, and so do we.
    std::signal(SIGXFSZ, SIG_IGN);
}

void throw_if_interrupted() {
    if (interrupted) throw Interrupted();
}

} // namespace asterope
