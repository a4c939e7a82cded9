/* Processes that are too short for periods: see trial.c.
 *
 * A process may end after a few periods. Then luck decides the result: which part of its start was
 * in which period. Or the periods were too short for the caches, for a quarter of its time: each
 * way had what the other one left there. So it takes one way as a whole, drawn at random. Its CPU
 * time is compared with that of another process of its kind. A kind is a program, and the children
 * forked from it are another kind.
 *
 * A kind is known to be short once a process of it has ended early, or its periods were too short.
 * That process leaves an empty file of the kind's name in the folder of the raw files.
 * asterope-prove puts those of earlier runs there, too. A process that plainly had time for periods
 * removes it.
 *
 * One of five processes has its places change their ways by themselves instead. These tell the best
 * way of each place. If a map is judged, a third of the processes takes it, and none tries its
 * places. */
#include "trial.h"

#include "draw.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    OF_WAYS = 2, /* of five processes, two take libc, two the routine, and one tries its places */
    OF_FORKS = 1,
    HURRIED_PART = 4, /* periods are too short if they are for one part in so many */
};

/* Some hundred periods last so long. */
static const uint64_t short_ns = 300000000;

static char path[LONGEST_PATH]; /* of the kind's file */

static void put_hexadecimal(char *at, uint64_t number)
{
    for (int shift = 60; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[number >> shift & 15];
}

static void name_kind(void)
{
    char *at = put_folder(path);
    put_hexadecimal(at, trial.kind);
    put_text(at + 16, ".short");
}

void find_kind(void)
{
    if (!others.program[0] || trial.explore) return;
    uint64_t kind = 0;
    for (const char *at = others.program; *at; ++at) kind = mixed(kind ^ (unsigned char)*at);
    kind &= ~(uint64_t)OF_FORKS;
    trial.kind = kind ? kind : 2;
}

static int is_known_as_short(void)
{
    name_kind();
    return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

void begin_process(int is_fork)
{
    const int had_only_way = trial.only_way != 0;
    trial.only_way = trial.by_place = trial.is_begun = 0;
    trial.hurried_ns = 0;
    if (trial.kind) {
        if (is_fork) trial.kind |= OF_FORKS;
        if (trial.has_counter && !trial.failed && is_known_as_short()) {
            uint64_t state = process.seed;
            const uint64_t how = draw_below(&state, trial.map ? 3 : 2 * OF_WAYS + 1);
            if (trial.map && how == 2)
                trial.only_way = 1 + trial.map;
            else if (how == 2 * OF_WAYS)
                trial.by_place = 1;
            else
                trial.only_way = 1 + (how % 2 ? TRIAL_ROUTINE : TRIAL_LIBC);
        }
    }
    if (!trial.only_way && !had_only_way) return;
    for (int function = 0; function < RAW_FUNCTIONS; ++function)
        trial.together[function] = trial.only_way ? copy_together(trial.period, function) : NULL;
}

void end_process(void)
{
    if (!trial.is_begun || !trial.kind || process.has_no_counter) return;
    struct trial_header *header = &trial_file()->header;
    header->ended = 1;
    const uint64_t ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process.file->header.started.cpu_ns;
    const uint64_t part = (clock_ns(CLOCK_MONOTONIC) - trial.started_ns) / (trial.hurried_ns | 1);
    name_kind();
    if (trial.only_way || trial.by_place) {
        if (trial.only_way && ns >= 2 * short_ns && part >= 2 * HURRIED_PART)
            syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    } else if (ns < short_ns || part < HURRIED_PART) {
        header->is_short = 1;
        const int file =
            (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (file >= 0) syscall(SYS_close, file);
    }
}
