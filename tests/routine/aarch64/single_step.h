/* A process of AArch64 cannot step through its own instructions: only a debugger sets that flag. */
#ifndef ASTEROPE_SINGLE_STEP_H
#define ASTEROPE_SINGLE_STEP_H

#include <stdbool.h>
#include <ucontext.h>

#define CAN_STEP false

static void start_stepping(void) {}

static void stop_stepping(ucontext_t* context) {
    (void)context;
}

static bool about_to_wait(const ucontext_t* context) {
    (void)context;
    return false;
}

#endif
