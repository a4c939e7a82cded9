/* The ways of a trial: libc's, libc's again, and those of libraries that the environment names. */
#include "trial.h"

#include "instructions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct trial trial;

enum { LONGEST_LINE = 4096, MOST_EXPLORED = 1 << 16 };

static int is_none(const char *name) { return name[0] == '-' && !name[1]; }

static any_function *symbol_of(void *library, const char *name)
{
    return is_none(name) ? NULL : (any_function *)dlsym(library, name);
}

/* Ends the text at its first blank, and returns the rest behind it; null: it has no blank. */
static char *cut_at_blank(char *text)
{
    while (*text && *text != ' ') ++text;
    if (!*text) return NULL;
    *text = 0;
    return text + 1;
}

/* Finds "asterope_memmove" and "asterope_mempcpy" for "asterope_memcpy". The longer names overwrite
 * the text behind `name`. */
static void find_easy_copies(void *library, char *name, uint32_t number)
{
    const size_t bytes = strlen(name);
    char *end = name + bytes - 3;
    if (bytes < 3 || end[0] != 'c' || end[1] != 'p' || end[2] != 'y') return;
    put_text(end, "move");
    trial.easy_ways[RAW_MEMCPY][number] = trial.easy_ways[RAW_MEMMOVE][number] =
        symbol_of(library, name);
    put_text(end, "pcpy");
    trial.easy_ways[RAW_MEMPCPY][number] = symbol_of(library, name);
}

/* Loads the way of a line "COPY SET LEAST PATH". Each of the first two words is a symbol or -.
 * LEAST: see struct trial. A = in front of the line marks the way of a library with a map. Returns
 * whether it found all of it. */
static int load_way(char *line, uint32_t number)
{
    const int has_map = *line == '=';
    line += has_map;
    char *set = cut_at_blank(line), *least = set ? cut_at_blank(set) : NULL;
    char *path = least ? cut_at_blank(least) : NULL;
    if (!path) return 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return 0;
    any_function *copies = symbol_of(library, line), *sets = symbol_of(library, set);
    if ((!copies && !is_none(line)) || (!sets && !is_none(set))) return 0;
    if (has_map) trial.map = number;
    trial.least[number] = number_in(least, 0);
    for (int function = 0; function < RAW_FUNCTIONS; ++function) {
        any_function *way = function == RAW_MEMSET ? sets : copies;
        trial.way[function][number] = way;
        if (way && !has_map) trial.numbers[function][trial.ways[function]++] = (uint8_t)number;
    }
    trial.easy_ways[RAW_MEMSET][number] = sets;
    find_easy_copies(library, line, number);
    return 1;
}

/* Loads the way of each line. */
static int load_ways(const char *text)
{
    uint32_t number = TRIAL_ROUTINE;
    while (*text) {
        static char line[LONGEST_LINE];
        size_t bytes = 0;
        while (text[bytes] && text[bytes] != '\n') ++bytes;
        if (bytes >= sizeof line || number >= TRIAL_WAYS) return 0;
        for (size_t i = 0; i < bytes; ++i) line[i] = text[i];
        line[bytes] = 0;
        if (!load_way(line, number++)) return 0;
        text += bytes + (text[bytes] == '\n');
    }
    return number > TRIAL_ROUTINE;
}

/* Four times the last cache's bytes. They are at least 128 MiB, as some systems do not tell the
 * cache. They are at most 512 MiB, as a program only gets a part of a larger one. (Behind 64 KiB
 * copies by the routine, libc's copies were a third faster at first. They had slowed down after 64
 * to 128 MiB, with 32 MiB of last cache; Zen 4.) */
static uint64_t turnover_bytes(void)
{
    const int64_t least = 128 << 20, most = 512 << 20;
    int64_t bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = 4 * sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    bytes = bytes < least ? least : bytes;
    return (uint64_t)(bytes < most ? bytes : most);
}

int start_trial(void)
{
    const char *ways = secure_getenv("ASTEROPE_TRIAL");
    if (!ways) return 0;
    trial.explore = (uint32_t)number_in(secure_getenv("ASTEROPE_EXPLORE"), 0);
    if (trial.explore > MOST_EXPLORED) trial.explore = 0;
    trial.has_counter = !process.has_no_counter;
    if (others.sanitizer) { /* other ways lack its checks; the file names the sanitizer */
        trial.has_figures = 1;
        return 1;
    }
    for (int function = 0; function < RAW_FUNCTIONS; ++function) {
        /* mempcpy is memcpy and an addition, whichever way it goes */
        any_function *libcs = next_function[function == RAW_MEMPCPY ? RAW_MEMCPY : function];
        for (uint32_t number = TRIAL_LIBC; number <= TRIAL_LIBC_AGAIN; ++number) {
            trial.way[function][number] = libcs;
            trial.numbers[function][trial.ways[function]++] = (uint8_t)number;
        }
        trial.easy_ways[function][TRIAL_LIBC] =
            next_function[function == RAW_MEMCPY ? RAW_MEMMOVE : function];
    }
    trial.failed = !load_ways(ways);
    trial.seed = process.seed;
    trial.turnover = turnover_bytes();
    if (trial.has_counter) {
        trial.started = ticks_now();
        trial.started_ns = clock_ns(CLOCK_MONOTONIC);
        trial.period_end = trial.started;
    }
    find_kind();
    begin_process(0);
    trial.is_on = 1;
    return 1;
}

void forbid_counter(void)
{
    __atomic_store_n(&trial.has_counter, 0, __ATOMIC_RELAXED);
    for (int function = 0; function < RAW_FUNCTIONS; ++function)
        trial.together[function] = trial.easy[function] = NULL;
}
