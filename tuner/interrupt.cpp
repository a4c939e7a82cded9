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
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void throw_if_interrupted() {
    if (interrupted) throw Interrupted();
}

} // namespace asterope
