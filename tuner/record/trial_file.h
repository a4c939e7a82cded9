/* What the trial writes, behind all else in the raw file; asterope/prove/trial_file.py reads it.
 *
 *     header     which ways there were, and what could not be done
 *     pages      whose each page is
 *     threads    of each a table of its places
 *     blocks     in pages of 64, handed out as they are needed
 *
 * A block is a short run of calls that went one way, with the ticks from the start of each to the
 * start of the next, or of one some calls later where they follow each other so fast that reading
 * the time stamp would be felt. Of a place's own blocks, each cycle has every way once, in an order
 * that is drawn; a place's cycles beyond its room take the places of others, so that those which
 * are kept are a uniform choice. Of blocks together, each pair of periods has libc and the routine
 * once. */
#ifndef ASTEROPE_TRIAL_FILE_H
#define ASTEROPE_TRIAL_FILE_H

#include "raw_file.h"

#include <stdint.h>

#define TRIAL_MAGIC "astetri" /* 8 bytes with its end */

enum {
    TRIAL_VERSION = 6,
    TRIAL_LEAST = 512, /* bytes: smaller calls are judged together alone */
    TRIAL_GAP = 128,   /* calls that are timed as one, at most */
    TRIAL_WAYS = 16,
    TRIAL_LIBC = 0,
    TRIAL_LIBC_AGAIN = 1,
    TRIAL_ROUTINE = 2,
    TRIAL_KEPT = 8,  /* intervals of a block, at most */
    TRIAL_FIRST = 2, /* of them, the first ones of a place's own block */
    TRIAL_THREADS = 128,
    TRIAL_PLACES = 256, /* of a thread */
    TRIAL_BUCKETS = 512,
    TRIAL_REST = 0,  /* the place of calls whose own found no room */
    TRIAL_SMALL = 1, /* that of calls below TRIAL_LEAST */
    TRIAL_ALL = UINT16_MAX, /* of a block: in place of ticks the CPU time of the thread in this
                             * period, in ns, low half first; and what its intervals take in
                             * ticks, the longest counted as usual ones; 0: these are not known */
    TRIAL_PAGES = 4096,
    TRIAL_OWN_PAGES = 2048, /* so many for places' own blocks, the rest for those together */
    TRIAL_PLACE_PAGES = 128,
    TRIAL_PAGE_BLOCKS = 64,
};

/* Of trial_header.flags. */
enum {
    TRIAL_FULL = 1,        /* no page could be had */
    TRIAL_PLACES_FULL = 2, /* a thread had more places than its table */
    TRIAL_NO_COUNTER = 4,  /* the time stamp may not be read (any more) */
    TRIAL_NO_WAY = 8,      /* a library could not be loaded: there was no trial */
    TRIAL_THREADS_FULL = 16,
};

struct trial_header {
    char magic[8];
    uint32_t version;
    uint32_t flags;
    uint32_t pages, own_pages; /* handed out */
    /* Periods in which there was a trial; those of operation, in which all calls took libc's way,
     * and in which they took the other one that could be best. */
    uint32_t tried, easy_libcs, easy_others;
    /* Of a process that goes one way as a whole: 1 + that way; 0: it does not. Its CPU time is what
     * was noted at its end. */
    uint32_t alone;
    uint64_t kind; /* the same for processes of the same program; 0: not known */
    uint32_t ended; /* 1: the time of its end was noted */
    uint32_t unused;
};

/* Of a page. */
enum { TRIAL_OWN = 1, TRIAL_TOGETHER = 2 };

struct trial_page {
    uint16_t thread;
    uint16_t kind;
};

struct trial_block {
    uint32_t group; /* number of the cycle at its place; of the period together */
    uint32_t gap;   /* calls from the start of an interval to its end */
    uint32_t calls; /* intervals that there were, kept or not */
    uint16_t place;
    uint8_t way;
    uint8_t kept;
    uint32_t ticks[TRIAL_KEPT]; /* 2^32 - 1: that or more */
    uint16_t bytes[TRIAL_KEPT]; /* of a place's own call above its class's start, in 65536ths */
};

struct trial_place {
    uint64_t caller;
    uint64_t calls, own_calls; /* all, and those while places changed by themselves */
    uint64_t copied;           /* bytes of the calls that are no sets */
    uint64_t cycles;           /* begun */
    uint64_t copy_ticks[2];    /* that some of its calls took themselves: by libc, by the routine, */
    uint32_t copies[2];        /* which are so many */
    uint8_t function;
    uint8_t power; /* its sizes are 2^power or more, and less than twice that */
    uint8_t ways;
    uint8_t racing; /* of them, which take part yet: the first ones of the order */
    uint8_t order[TRIAL_WAYS];
    /* The rest is the library's own. */
    uint8_t turn;               /* of the cycle: which of the ways it is at */
    uint8_t is_long;            /* the interval that runs now is of CPU time */
    uint8_t slower[TRIAL_WAYS]; /* how often each was plainly slower than libc */
    uint32_t ticks[TRIAL_WAYS]; /* of a call in this cycle; 0: not known */
    uint32_t usual;             /* ticks of a call in the last one */
    uint32_t unsettled, left;   /* intervals of the block that will not count, and that will */
    uint16_t pages;
    uint32_t at; /* block of the cycle in its pages; 2^32 - 1: it is not kept */
    uint32_t gap;
    int32_t gap_left;
    uint32_t longest, limit, limit_pair; /* see book_within() */
    uint64_t started, pair; /* of the last interval; 0: none runs */
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

_Static_assert(sizeof(struct trial_header) == 56, "trial_file.py has the same");
_Static_assert(sizeof(struct trial_block) == 64, "trial_file.py has the same");
_Static_assert(sizeof(struct trial_place) == 616, "trial_file.py has the same");
_Static_assert(sizeof(struct trial_file) % RAW_PAGE == 0, "pages are reserved one by one");

#endif
