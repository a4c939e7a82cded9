/* The raw file: the recorder writes it for one process, and asterope/record/raw.py reads it.
 *
 * The recorder maps the file MAP_SHARED and writes as it goes. So the file has all records up to
 * the process's end, however it ends. The file is sparse: each area is reserved before it is
 * written for the first time. So a full disk is an error then, and never SIGBUS.
 *
 *     header     one page
 *     modules    the executable mappings, then their paths
 *     samples    a uniform choice among all samples
 *     slots      one a thread: the exact counts
 *
 * Each function and size class has a number of 64 bits. Its lower half holds the calls so far.
 * Its upper half, signed, holds the calls left until the next sample. A call adds RAW_CALL,
 * which raises the lower half by one and lowers the upper half by one. If the number is negative
 * then, the call is sampled, and the number of calls until the next sample is drawn. So the
 * program pays for one addition a call. A signal, an exit or a longjmp never finds the counts
 * half changed. */
#ifndef ASTEROPE_RAW_FILE_H
#define ASTEROPE_RAW_FILE_H

#include <stdint.h>

#define RAW_MAGIC "asterec" /* 8 bytes with its end */

enum {
    RAW_VERSION = 6,
    RAW_PAGE = 4096, /* of the file; the kernel may have larger ones */

    RAW_MEMCPY = 0,
    RAW_MEMMOVE = 1,
    RAW_MEMPCPY = 2,
    RAW_MEMSET = 3,
    RAW_FUNCTIONS = 4,

    /* Each size up to 15, then 8 classes a doubling: class c from 16 on begins at
     * (c - 8 k) << k with k = c / 8 - 1. */
    RAW_CLASSES = 496,
    RAW_CLASSES_ROOM = 512, /* a page a function */

    RAW_SLOTS = 256,
    RAW_MODULES = 512,
    RAW_PATHS = 49152, /* bytes */
    RAW_NAME = 512,    /* bytes, with its end */
    RAW_SAMPLES = 4096,
    RAW_CHILDREN = 40,
    RAW_FOLD_BITS = 30,
};

#define RAW_CALL (1 - ((int64_t)1 << 32))

/* The bits of raw_header.flags. */
enum {
    RAW_FULL = 1,         /* no more space could be reserved */
    RAW_SHARED = 2,       /* threads or children share a slot, and lose counts to each other */
    RAW_MODULES_FULL = 4, /* no room for all modules or their paths */
    RAW_QUIET = 8,        /* the program restricts its system calls: it is only counted then */
};

/* Three clocks read one after the other. */
struct raw_note {
    uint64_t monotonic_ns;
    uint64_t ticks;
    uint64_t cpu_ns; /* of the process, user and system */
};

/* A child that was waited for. The kernel knows its time even if its own file lacks the end. */
struct raw_child {
    uint64_t cpu_ns; /* its own, and that of the children that it waited for */
    uint64_t pid;
};

/* The program and other libraries of the process. The texts are paths, or empty. */
struct raw_others {
    uint32_t sanitizer; /* 1 to 4: of addresses, threads, memory, tagged ones; 0: not one */
    /* `first`: the file whose memcpy the program calls, unless it is the recorder. `next`: the file
     * of the next memcpy, unless it is libc. `routine`: asterope_memcpy's. */
    char program[RAW_NAME], first[RAW_NAME], next[RAW_NAME], routine[RAW_NAME];
};

struct raw_header {
    char magic[8];
    uint32_t version;
    uint32_t pid;
    uint64_t file_bytes;
    uint64_t period; /* mean distance of samples in bytes of work: the start of the class + 256 */
    int64_t started_realtime_ns;
    struct raw_note started;
    struct raw_note noted[2]; /* the newest one: noted[note] */
    uint32_t note;
    uint32_t stop; /* the reader's only word to the recorder: 1 ends the recording */
    uint32_t flags;
    uint32_t slots; /* reserved */
    uint32_t threads;
    uint32_t modules;
    uint64_t drawn;        /* samples, kept or not */
    uint32_t samples_room; /* reserved: 0 or RAW_SAMPLES */
    uint32_t path_bytes;
    uint64_t children_cpu_ns; /* of those that ended without a file of their own */
    uint32_t has_ended;       /* 1: it has, and its clocks are noted */
    struct raw_others others;
    uint32_t owners[RAW_SLOTS]; /* thread ids; 0: the slot was never used */
    uint64_t waited_cpu_ns;     /* of all children that it waited for, and of theirs */
    uint64_t waited;            /* their number; child[waited % RAW_CHILDREN] is the next one */
    struct raw_child child[RAW_CHILDREN];
};

struct raw_module {
    uint64_t start, end, offset;
    uint32_t path, path_bytes; /* among the paths */
};

struct raw_sample {
    uint64_t size;
    uint64_t caller;
    uint64_t ticks; /* that the call took, less those of timing it */
    uint8_t function;
    uint8_t timed;
    uint16_t ready; /* 1: all of it is written; 2: being written */
    uint32_t unused;
};

/* The only data that the fast path changes. */
struct raw_cells {
    int64_t cell[RAW_FUNCTIONS][RAW_CLASSES_ROOM];
};

struct raw_slot {
    struct raw_cells cells;
    uint32_t folded[RAW_FUNCTIONS][RAW_CLASSES_ROOM]; /* calls taken off the cell: 2^30 each */
};

struct raw_file {
    struct raw_header header;
    char header_room[RAW_PAGE - sizeof(struct raw_header)];
    struct raw_module modules[RAW_MODULES];
    char paths[RAW_PATHS];
    struct raw_sample samples[RAW_SAMPLES];
    struct raw_slot slots[RAW_SLOTS]; /* last, as a limit on the size of files leaves fewer */
};

_Static_assert(sizeof(struct raw_module) == 32, "raw.py has the same");
_Static_assert(sizeof(struct raw_sample) == 32, "raw.py has the same");
_Static_assert(sizeof(struct raw_slot) % RAW_PAGE == 0, "slots are reserved one by one");

#endif
