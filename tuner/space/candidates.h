/* The table of candidates that the build renders from the templates: C, as the candidates are. */
#ifndef ASTEROPE_CANDIDATES_H
#define ASTEROPE_CANDIDATES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A complete copy of `bytes` (128 or more). A set gets the byte to set as its second argument
 * instead of an address, in the low 8 bits. The low 32 bits of `distance` tell how many bytes it
 * prefetches ahead of its loads. The high 32 bits tell how many bytes ahead of its stores it
 * prefetches the destination. Each is 0 for a variant that does not. */
typedef void* (*asterope_candidate)(void* destination, const void* source, size_t bytes,
                                    size_t distance);

/* An axis of the pipelines' space, as scripts/asterope/spaces describes it. */
struct asterope_axis {
    const char* field;  /* its name in a profile's tuple: "tb" */
    const char* title;  /* the title of its column in tables: "TB" */
    const char* legend; /* the meaning of the column: "transfer block in lines"; "": the paper's */

    /* This stands before its value in names, where that is not the default: "TB4". NULL: the
     * paper has the axis, and its value stands in every name and every tuple. */
    const char* mark;
    const char* extension;    /* the name of its values beyond the paper's, or NULL: "tb" */
    const char* const* words; /* its values, the default first; NULL: they are numbers */
    const int* numbers;       /* the same */
    int count, paper;         /* how many there are, and how many of them the paper has */
    /* 0: each value is a variant. Otherwise the value is an argument of the copy, in cache
     * lines: 1 in the low half of `distance`, 2 in the high half. */
    int argument;
    /* Where a variant holds its value: of an axis with a mark, which of `marked` it is; else a
     * number of enum asterope_place. */
    int place;
};

/* The properties that a variant holds by name. */
enum asterope_place {
    ASTEROPE_RT,
    ASTEROPE_LT,
    ASTEROPE_ST,
    ASTEROPE_PT,
    ASTEROPE_PS,
    ASTEROPE_PD
};

#define ASTEROPE_MOST_MARKED_AXES 8

struct asterope_space;

/* A parameter tuple without its prefetch distances, and the function that copies so. `needs`: CPU
 * features as /proc/cpuinfo names them, blanks in between. */
struct asterope_variant {
    const struct asterope_space* space; /* the one that it is of */
    const char *rt, *lt, *st, *pt;      /* a set has no lt, "", and its pt is "none" */
    int ps;
    /* On the axes with a mark, in their order: the number, of words which of them it is, of an
     * argument whether the variant has it. */
    int marked[ASTEROPE_MOST_MARKED_AXES];
    /* Bytes of a copy above which all its parameters but the distances can act. */
    int acts_above;
    int whole;        /* whether one instruction does it all, or a sequence that belongs together */
    const char* name; /* without distances: "ZMM T T T0 4 TB4 PW" */
    const char* needs;
    asterope_candidate copy;
};

/* Prefetch distances in cache lines, for the variants that prefetch. */
extern const int asterope_distances[];
extern const size_t asterope_distance_count;

/* Distances of the destination's prefetch in cache lines, for the variants that have one. */
extern const int asterope_write_distances[];
extern const size_t asterope_write_distance_count;

/* A complete copy of any size. Up to its bound it copies alone, above it calls `large`, which
 * gets the other arguments unchanged. */
typedef void* (*asterope_small_candidate)(void* destination, const void* source, size_t bytes,
                                          size_t distance, asterope_candidate large);

/* Probes and returns the ticks that it took. The low 32 bits have those of the source, or of a
 * probe of kind `both` those of both sides at once. The high 32 bits have those of the destination,
 * for any source, or 0 where the probe never looks there. A probe that does writes a byte of the
 * copy to each page that it looks at. That of a set looks at the destination alone, and returns its
 * ticks in the low 32 bits. */
typedef size_t (*asterope_reader)(void* destination, const void* source, size_t bytes);

/* A copy's value on one axis of its kind: a word, or a number. */
struct asterope_field {
    const char* name; /* as a profile's tuple has it: "bound"; NULL behind the last field */
    const char* word; /* NULL: it is a number */
    int number;
};

#define ASTEROPE_MOST_FIELDS 5 /* of a kind of copies, one of them behind the last */

/* A copy of another kind than the pipelines. */
struct asterope_copy {
    const char* name; /* as tables and logs write it: "masked ZMM up 256" */
    struct asterope_field fields[ASTEROPE_MOST_FIELDS];
    const char* needs; /* as of a variant */
    /* The functions that its kind has, others NULL. `copy` ignores its distance, except where
     * the kind has a `read`. There it probes first, and gets the address of a struct
     * asterope_sensing. */
    asterope_candidate copy;
    asterope_small_candidate small;
    asterope_reader read; /* of probes, where the counter may be read */
};

/* All copies of a kind, as scripts/asterope/spaces/kinds.py lists it, in the order in which ties
 * break. */
struct asterope_kind {
    const char* name;                   /* "small" */
    const struct asterope_space* space; /* whose operation they do */
    const struct asterope_copy* copies;
    size_t count;
    size_t least; /* bytes that they do right */
    int overlap;  /* whether their buffers may overlap */
};

/* The pipelines of an operation, with their axes, names and plain members. */
struct asterope_space {
    const char* function; /* of libc: "memcpy" */
    /* First the axes that stand in every name: a copy has the paper's RT, LT, ST, PT, PS and PD.
     * Then those with a mark. */
    const struct asterope_axis* axes;
    size_t axis_count;
    /* In the order in which ties break: simplest first, and before all others those of the paper.
     */
    const struct asterope_variant* variants;
    size_t variant_count;
    const struct asterope_kind* kinds; /* the others */
    size_t kind_count;
    /* The names of the plain ones, which win where noise hid which is the fastest. Names are as
     * in tables and logs: that of a candidate, "XMM T T none 0 0", and that of a small copy. */
    const char *plain, *plain_small;
    void (*libc)(void); /* libc's own, which no compiler sees here */
};

extern const struct asterope_space asterope_copies; /* memcpy's */
extern const struct asterope_space asterope_sets;   /* memset's */

/* The pipelines that a sensing copy goes on with. A side is cached where its loads took no more
 * than `threshold` ticks of the counter (32 bits). Where the source is, it takes the hot one, and a
 * probe of both sides takes `produce` where the destination is not. Else it takes `fetch` where the
 * probe looks at the destination and that is cached. Else it takes the cold one. Distances are as
 * for a candidate. A probe of a set looks at the destination alone: where that is cached it takes
 * the hot one, else that which serves the call site. Assembly knows this layout. */
struct asterope_sensing {
    unsigned long threshold;
    asterope_candidate hot;
    size_t hot_distance;
    asterope_candidate cold;
    size_t cold_distance;
    asterope_candidate fetch; /* NULL for a probe of the source alone */
    size_t fetch_distance;
    asterope_candidate produce; /* NULL but for a probe of both sides */
    size_t produce_distance;
};

/* How a copy is shared among threads. Up to so many of them take part, the caller included. Each
 * chunk has so many bytes (64 KiB or more; 0: an even share for each), and `copy` copies it. */
struct asterope_share {
    unsigned threads;
    size_t chunk;
    asterope_candidate copy;
    size_t distance;
};

/* The most threads that a copy may be shared among. */
#define ASTEROPE_MOST_THREADS 64

/* Starts the pool's threads, unless they run: one for each CPU that the caller may use. Returns how
 * many there are then, the caller included. To be called before asterope_copy_over_threads, by one
 * thread. */
unsigned asterope_start_threads(void);

/* The function behind asterope_memcpy_mt: it copies over threads, 4096 bytes or more. As its 4th
 * argument it gets the address of a struct asterope_share. It copies alone where other threads
 * are missing. */
void* asterope_copy_over_threads(void* destination, const void* source, size_t bytes, size_t share);

/* How the pages of the destination are prepared. A piece has so many bytes, a multiple of 4096, and
 * `copy` copies it. With `huge` 1, the whole huge pages are asked for first; with 2, they are asked
 * for and not populated. `stride`: 1 of a copy, 0 of a set, whose value is the same for all pieces.
 */
struct asterope_page_stage {
    int huge;
    size_t piece;
    size_t stride;
    asterope_candidate copy;
    size_t distance;
};

/* The function behind asterope_memcpy_fresh and asterope_memset_fresh, of 4096 bytes or more. As
 * its 4th argument it gets the address of a struct asterope_page_stage. */
void* asterope_copy_fresh(void* destination, const void* source, size_t bytes, size_t stage);

#ifdef __cplusplus
}
#endif

#endif
