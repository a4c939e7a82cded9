/* The trial's part of the raw file, behind all else. asterope/prove/trial/file.py reads it.
 *
 *     header     the ways of the trial, and its failures
 *     pages      the thread that has each page
 *     threads    for each thread a table of its places
 *     blocks     in pages of 64, handed out as they are needed
 *
 * A block is a short run of calls that went one way. It has ticks, from the start of each call to
 * that of the next one. In a place's own block it is the place's next call. In a block together it
 * is the thread's. Where the time stamp would cost much, several calls are one interval.
 *
 * A place has blocks of its own in cycles. Each cycle has each way once, in a random order. Ways
 * that have left are not in it. If a place's room is full, further cycles replace earlier ones, so
 * that the kept ones are a uniform choice. Where all places go together, blocks belong to periods:
 * libc has one period of a pair, the routine or the map the other.
 */
#ifndef ASTEROPE_TRIAL_FILE_H
#define ASTEROPE_TRIAL_FILE_H

#include "raw_file.h"

#include <stdint.h>

#define TRIAL_MAGIC "astetri" /* 8 bytes with its end */

enum {
    TRIAL_VERSION = 7,
    TRIAL_LEAST = 512, /* bytes: smaller calls are judged together alone */
    TRIAL_GAP = 128,   /* the most calls that are timed as one */
    TRIAL_WAYS = 16,
    TRIAL_LIBC = 0,
    TRIAL_LIBC_AGAIN = 1,
    TRIAL_ROUTINE = 2,
    TRIAL_KEPT = 8,  /* the most intervals that are kept of a block */
    TRIAL_FIRST = 2, /* so many of them are the first ones, in a place's own block */
    TRIAL_THREADS = 128,
    TRIAL_PLACES = 256, /* a thread has */
    TRIAL_BUCKETS = 512,
    TRIAL_REST = 0,  /* the place of calls whose own place found no room */
    TRIAL_SMALL = 1, /* the place of calls below TRIAL_LEAST */
    /* Marks a block that has a thread's figures instead of intervals, of the part of a period that
     * counts. ticks[0..1]: its CPU time in ns, low half first. ticks[2..3]: the ticks of its
     * intervals, of which the longest count as usual ones; 0: not known. */
    TRIAL_ALL = UINT16_MAX,
    TRIAL_PAGES = 4096,
    TRIAL_OWN_PAGES = 2048, /* the most for places' own blocks: those together may take any page */
    TRIAL_PLACE_PAGES = 128,
    TRIAL_PAGE_BLOCKS = 64,
};

/* The bits of trial_header.flags. */
enum {
    TRIAL_FULL = 1,        /* a page was needed, and could not be had */
    TRIAL_PLACES_FULL = 2, /* a thread had more places than fit in its table */
    TRIAL_NO_COUNTER = 4,  /* the program may not read the time stamp, or no longer */
    TRIAL_NO_WAY = 8,      /* a library could not be loaded, so nothing was tried */
    TRIAL_THREADS_FULL = 16,
};

struct trial_header {
    char magic[8];
    uint32_t version;
    uint32_t flags;
    uint32_t pages, own_pages; /* handed out */
    /* Periods with a trial; periods of operation in which all calls took libc's way; those in which
     * they took the other way that could be best. */
    uint32_t periods_tried, easy_libcs, easy_others;
    /* 1 + the way that all calls of the process took; 0: they took several. The CPU time that was
     * noted at its end counts for that way. */
    uint32_t only_way;
    uint64_t kind;     /* of a program, or of children forked from it; 0: not known */
    uint32_t ended;    /* 1: the time of its end was noted */
    uint32_t is_short; /* 1: too short for periods, so its periods tell nothing */
};

/* The kinds of a page. */
enum { TRIAL_OWN = 1, TRIAL_TOGETHER = 2 };

struct trial_page {
    uint16_t thread;
    uint16_t kind;
};

struct trial_block {
    uint32_t number;    /* of the place's cycle, or of the period together */
    uint32_t gap;       /* calls from the start of an interval to its end */
    uint32_t intervals; /* all of them, also those that were not kept */
    uint16_t place;
    uint8_t way;
    uint8_t kept;
    uint32_t ticks[TRIAL_KEPT]; /* 2^32 - 1: that or more */
    /* Own blocks only: the calls' mean size above 2^power, as a part of 2^power, in 65535ths. */
    uint16_t bytes[TRIAL_KEPT];
};

struct trial_place {
    uint64_t caller;
    uint64_t calls, own_calls; /* all calls, and those while places changed by themselves */
    uint64_t copied;           /* bytes of all calls but those of memset */
    uint64_t cycles;           /* cycles that were begun */
    uint64_t copy_ticks[2];    /* ticks of some calls' copies alone, by libc, by the routine */
    uint32_t copies[2];        /* the number of these calls */
    uint8_t function;
    uint8_t power; /* its sizes are 2^power or more, and less than twice that */
    uint8_t ways;
    uint8_t racing; /* the ways that still take part: the first ones of the order */
    uint8_t order[TRIAL_WAYS];
    /* Only the library uses the following ones. */
    uint8_t turn;               /* the cycle's way now, by its number in the order */
    uint8_t uses_cpu_clock;     /* the interval that runs now is of CPU time */
    int8_t slower[TRIAL_WAYS];  /* cycles in which it was plainly slower than libc, less others */
    uint32_t ticks[TRIAL_WAYS]; /* of a call in this cycle, in 16ths; 0: not known */
    uint32_t usual;             /* ticks of a call in the last cycle */
    uint32_t unsettled, left;   /* coming intervals: those that will not count, those that will */
    uint16_t pages;
    uint32_t at; /* block of the cycle in its pages; 2^32 - 1: it is not kept */
    uint32_t gap;
    int32_t gap_left;
    uint32_t longest, limit, limit_pair; /* see book_within() */
    uint64_t started, pair; /* the start of the interval that runs, and its pair; 0: none runs */
    uint64_t bytes;         /* of its calls so far */
    struct trial_block own, together;
    uint16_t page[TRIAL_PLACE_PAGES];
};

struct trial_thread {
    uint32_t places;
    uint32_t is_used;
    uint16_t bucket[TRIAL_BUCKETS];
    struct trial_place place[TRIAL_PLACES];
};

struct trial_file {
    struct trial_header header;
    struct trial_page page[TRIAL_PAGES];
    char room[RAW_PAGE - sizeof(struct trial_header)];
    struct trial_thread thread[TRIAL_THREADS];
    char more_room[RAW_PAGE - sizeof(struct trial_thread) * TRIAL_THREADS % RAW_PAGE];
    struct trial_block block[TRIAL_PAGES][TRIAL_PAGE_BLOCKS];
};

_Static_assert(sizeof(struct trial_header) == 56, "prove/trial/file.py has the same");
_Static_assert(sizeof(struct trial_block) == 64, "prove/trial/file.py has the same");
_Static_assert(sizeof(struct trial_place) == 616, "prove/trial/file.py has the same");
_Static_assert(sizeof(struct trial_file) % RAW_PAGE == 0, "pages are reserved one by one");

#endif
