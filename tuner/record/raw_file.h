/* The raw file: what the recorder writes of one process, and asterope/record/raw.py reads.
 *
 * The recorder maps the file MAP_SHARED and writes as it goes, so that whatever ends the process
 * leaves what was recorded until then. The file is sparse: each area is reserved before it is
 * written for the first time, so that a full disk is an error then, and never SIGBUS.
 *
 *     header     one page
 *     modules    the executable mappings, then their paths
 *     watches    a uniform choice among all watchpoints
 *     bursts     a uniform choice among all bursts, each up to 128 calls in a row
 *     samples    a uniform choice among all samples
 *     slots      one a thread: the exact counts
 *
 * Of each function and size class, one number of 64 bits holds both the calls so far, in its lower
 * half, and the calls left until the next sample, signed, in its upper half. A call adds RAW_CALL,
 * which is one more of the former and one less of the latter; when the number is negative, the call
 * is sampled and as many calls are left as are drawn. So the program pays for one addition a call,
 * and no signal, exit or longjmp, whenever it comes, finds the counts half changed. */
#ifndef ASTEROPE_RAW_FILE_H
#define ASTEROPE_RAW_FILE_H

#include <stdint.h>

#define RAW_MAGIC "asterec" /* 8 bytes with its end */

enum {
    RAW_VERSION = 2,
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
    RAW_WATCHES = 512,
    RAW_BURSTS = 256,
    RAW_BURST_CALLS = 128,
    RAW_SAMPLES = 16384,
    RAW_EXECUTABLE = 512,
    RAW_FOLD_BITS = 30,
};

#define RAW_CALL (1 - ((int64_t)1 << 32))

/* Of raw_header.flags. */
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

struct raw_header {
    char magic[8];
    uint32_t version;
    uint32_t pid;
    uint64_t file_bytes;
    uint64_t period; /* mean distance of samples in bytes of work: the start of the class + 256 */
    uint64_t window_ns; /* for how long a line is watched */
    int64_t started_realtime_ns;
    struct raw_note started;
    struct raw_note noted[2]; /* the newest one: noted[note] */
    uint32_t note;
    uint32_t stop; /* the reader's only word to the recorder: 1 ends the recording */
    uint32_t flags;
    int32_t watch_errno;
    uint32_t slots; /* reserved */
    uint32_t threads;
    uint64_t drawn; /* samples, kept or not */
    uint64_t bursts_drawn;
    uint64_t watches_drawn;
    uint32_t samples_room; /* reserved */
    uint32_t bursts_room;
    uint32_t watches_room;
    uint32_t modules;
    uint32_t path_bytes;
    uint32_t unused;
    uint64_t children_cpu_ns; /* of those that ended without a file of their own */
    char executable[RAW_EXECUTABLE]; /* ends with 0 */
    uint32_t owners[RAW_SLOTS];      /* thread ids; 0: nobody has had this slot */
};

struct raw_module {
    uint64_t start, end, offset;
    uint32_t path, path_bytes; /* among the paths */
};

/* The first access of any kind, and the first write, as the ring buffers had them; 0: none. */
struct raw_watch {
    uint64_t size;
    uint64_t caller;
    uint64_t copy_ticks; /* 0: not timed */
    uint64_t armed_ns;   /* CLOCK_MONOTONIC, like all times here */
    uint64_t closed_ns;
    uint64_t access_ns, access_ip;
    uint64_t write_ns, write_ip;
    uint64_t copied_bytes; /* by this thread from armed_ns to closed_ns, by its counts */
    uint32_t thread, access_thread, write_thread;
    uint32_t ready; /* 1: all of it is written */
    uint64_t unused[2];
};

struct raw_burst_call {
    uint32_t size; /* 2^32 - 1: that or more */
    uint32_t gap_ticks;
    uint16_t source_page, destination_page; /* hashes of the pages' numbers */
    uint8_t source_mod, destination_mod;    /* modulo 64 */
    uint8_t function;
    uint8_t unused;
};

struct raw_burst {
    uint32_t calls;
    uint32_t writer; /* a thread's id while it writes */
    uint64_t unused;
    struct raw_burst_call call[RAW_BURST_CALLS];
};

/* Of raw_sample.flags. */
enum {
    RAW_OVERLAP = 1,
    RAW_TIMED = 2,
    RAW_SOURCE_PROBED = 4,
    RAW_DESTINATION_PROBED = 8,
    RAW_RESIDENT_KNOWN = 16,
    RAW_RESIDENT = 32,
};

struct raw_sample {
    uint64_t size;
    uint64_t caller;
    uint64_t monotonic_ns;
    uint64_t copy_ticks;
    uint32_t source_ticks, destination_ticks;
    uint16_t source_offset, destination_offset; /* modulo 4096 */
    uint8_t function;
    uint8_t flags;
    uint16_t ready; /* 1: all of it is written; 2: being written */
};

/* What the fast path changes, and nothing else. */
struct raw_cells {
    int64_t cell[RAW_FUNCTIONS][RAW_CLASSES_ROOM];
};

struct raw_slot {
    struct raw_cells cells;
    uint32_t folded[RAW_FUNCTIONS][RAW_CLASSES_ROOM]; /* calls taken off the cell, in 2^30 */
};

struct raw_file {
    struct raw_header header;
    char header_room[RAW_PAGE - sizeof(struct raw_header)];
    struct raw_module modules[RAW_MODULES];
    char paths[RAW_PATHS];
    struct raw_watch watches[RAW_WATCHES];
    struct raw_burst bursts[RAW_BURSTS];
    struct raw_sample samples[RAW_SAMPLES];
    struct raw_slot
        slots[RAW_SLOTS]; /* last: a limit on the size of files takes off some of these */
};

_Static_assert(sizeof(struct raw_module) == 32, "raw.py has the same");
_Static_assert(sizeof(struct raw_watch) == 112, "raw.py has the same");
_Static_assert(sizeof(struct raw_burst) == 2064, "raw.py has the same");
_Static_assert(sizeof(struct raw_sample) == 48, "raw.py has the same");
_Static_assert(sizeof(struct raw_slot) % RAW_PAGE == 0, "slots are reserved one by one");

#endif
