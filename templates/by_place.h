/* The way of a copy or set by its place: what a map of the program's places says, else the routine.
 *
 * Included by libc_names.h for preload.c. ASTEROPE_PLACES names the map's table, which
 * asterope-generate --places writes. A place is a module, by its build id, the offset of a return
 * address in its file, a function, and a size class. Whatever the map says, each way copies right,
 * overlapping buffers, too: a wrong one, such as that of a library which was closed, for another
 * one that lies there now, can only be slower.
 *
 * A copy looks at its size, at the last 12 bits of its return address, by which no file is ever
 * moved, and where a place of the map ends with these, at the return address and the sizes that
 * were found there already. The first call of a place that may be meant is looked up, by
 * _dl_find_object: it takes no lock and allocates nothing, as unwinders call it in signal handlers.
 * dl_iterate_phdr and dladdr wait for the loader's lock, which another thread may hold for as long
 * as the constructor of a library takes; a list of modules that is made when this one is loaded
 * lacks those that come later, such as most of Python's.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h> /* declares what is defined here */

#ifndef DLFO_STRUCT_HAS_EH_DBASE
#error "a map of places needs the function _dl_find_object, which glibc has from version 2.35 on"
#endif

typedef void asterope_way(void); /* any of the next two */
typedef void *asterope_copy(void *, const void *, size_t);
typedef void *asterope_set(void *, int, size_t);

enum { ASTEROPE_MEMCPY, ASTEROPE_MEMMOVE, ASTEROPE_MEMPCPY, ASTEROPE_MEMSET, ASTEROPE_FUNCTIONS };

struct asterope_place {
    uint64_t offset;
    unsigned power; /* sizes from 2^power on, below twice that */
    unsigned function;
    asterope_way *way; /* null: libc's */
    unsigned id_bytes;
    unsigned char id[32];
};

#define ASTEROPE_UNUSED __attribute__((unused))
/* Ways by an entry point, which is for buffers that do not overlap. */
#define ASTEROPE_ENTRY(intent) \
    ASTEROPE_UNUSED static asterope_copy asterope_##intent, asterope_##intent##_to_end; \
    static void *asterope_##intent(void *to, const void *from, size_t bytes) \
    { \
        if ((uintptr_t)to - (uintptr_t)from < bytes || (uintptr_t)from - (uintptr_t)to < bytes) \
            return asterope_memmove(to, from, bytes); \
        return asterope_memcpy_##intent(to, from, bytes); \
    } \
    static void *asterope_##intent##_to_end(void *to, const void *from, size_t bytes) \
    { \
        return (char *)asterope_##intent(to, from, bytes) + bytes; \
    }
#include ASTEROPE_PLACES

enum {
    ASTEROPE_LEAST = 512, /* smaller copies were not tried place by place */
    ASTEROPE_END = 4096,  /* the smallest page */
    ASTEROPE_UNIT = 8,    /* bytes */
    ASTEROPE_PLACES_COUNT = sizeof asterope_places / sizeof *asterope_places - 1
};
#ifndef ASTEROPE_ROOM
#define ASTEROPE_ROOM 8 /* of a group; what finds none is the routine's */
#endif

/* Written once, the return address last; 1: it is being written. */
struct asterope_kept {
    uintptr_t caller;
    size_t least, span; /* of sizes: from least on, fewer than so many */
    asterope_way *way;
};
/* In groups of one function and one end of offsets. Group 0 stands for none. */
static struct asterope_kept asterope_kept[ASTEROPE_PLACES_COUNT + 1][ASTEROPE_ROOM];
_Static_assert(sizeof asterope_kept / ASTEROPE_UNIT <= UINT16_MAX, "too many places");
/* Where each begins, in units; none before the start. */
static uint16_t asterope_groups[ASTEROPE_FUNCTIONS][ASTEROPE_END];
static asterope_way *asterope_libcs[ASTEROPE_FUNCTIONS];
static asterope_way *const asterope_owns[ASTEROPE_FUNCTIONS] = {
    (asterope_way *)asterope_memmove, (asterope_way *)asterope_memmove,
    (asterope_way *)asterope_mempcpy,
#ifdef ASTEROPE_ROUTINE_SETS
    (asterope_way *)asterope_memset,
#endif
};
/* By a pointer: a first call by name could be a long one, into the dynamic linker. */
static int (*asterope_find_object)(void *, struct dl_find_object *);

__attribute__((constructor)) static void asterope_start(void)
{
    /* glibc's memcpy is its memmove */
    static const char *const names[] = {"memmove", "memmove", "mempcpy", "memset"};
    for (int i = 0; i < ASTEROPE_FUNCTIONS; ++i) {
        asterope_libcs[i] = (asterope_way *)dlsym(RTLD_NEXT, names[i]);
        if (!asterope_libcs[i]) asterope_libcs[i] = asterope_owns[i];
    }
    asterope_find_object = _dl_find_object;
    uint16_t last = 0;
    for (const struct asterope_place *place = asterope_places; place->offset; ++place) {
        uint16_t *group = &asterope_groups[place->function][place->offset % ASTEROPE_END];
        last += sizeof *asterope_kept / ASTEROPE_UNIT;
        if (!*group) __atomic_store_n(group, last, __ATOMIC_RELEASE);
    }
}

/* --- A place's first call --- */

/* What is loaded of the file and holds these addresses; null: nothing does. */
static const ElfW(Phdr) *asterope_loaded(const ElfW(Ehdr) *file, ElfW(Addr) at, size_t bytes)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)((const char *)file + file->e_phoff);
    for (unsigned i = 0; i < file->e_phnum; ++i, ++header)
        if (header->p_type == PT_LOAD && at >= header->p_vaddr && bytes <= header->p_filesz &&
            at - header->p_vaddr <= header->p_filesz - bytes)
            return header;
    return NULL;
}

/* memcmp's first call could be a long one, too. */
static int asterope_same(const void *one, const void *other, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)one, *there = (const unsigned char *)other;
    while (bytes && at[bytes - 1] == there[bytes - 1]) --bytes;
    return !bytes;
}

static int asterope_is_id(const char *note, size_t left, size_t align,
                          const struct asterope_place *place)
{
    const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)note;
    while (left >= sizeof *head) {
        const size_t text = (sizeof *head + head->n_namesz + align - 1) / align * align;
        const size_t bytes = (text + head->n_descsz + align - 1) / align * align;
        if (text + head->n_descsz > left) return 0;
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 &&
            asterope_same(head + 1, "GNU", 4))
            return head->n_descsz == place->id_bytes &&
                   asterope_same((const char *)head + text, place->id, place->id_bytes);
        if (bytes > left) return 0;
        left -= bytes;
        head = (const ElfW(Nhdr) *)((const char *)head + bytes);
    }
    return 0;
}

static int asterope_is_of(const ElfW(Ehdr) *file, ElfW(Addr) base,
                          const struct asterope_place *place)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)((const char *)file + file->e_phoff);
    for (unsigned i = 0; i < file->e_phnum; ++i, ++header)
        if (header->p_type == PT_NOTE && asterope_loaded(file, header->p_vaddr, header->p_filesz) &&
            asterope_is_id((const char *)(base + header->p_vaddr), header->p_filesz,
                           header->p_align == 8 ? 8 : 4, place))
            return 1;
    return 0;
}

/* Sets the way of this size, and all sizes around it that have the same. The caller's module stays
 * loaded meanwhile, as the caller's code runs. */
static void asterope_look_up(uintptr_t caller, unsigned function, unsigned power,
                             struct asterope_kept *kept)
{
    asterope_way *ways[64];
    for (int i = 0; i < 64; ++i) ways[i] = asterope_owns[function];
    struct dl_find_object module;
    if (asterope_find_object((void *)caller, &module) == 0) {
        const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)module.dlfo_map_start;
        const ElfW(Addr) base = module.dlfo_link_map->l_addr;
        /* its headers on its first page, which surely can be read */
        const int is_known = asterope_same(file->e_ident, ELFMAG, SELFMAG) &&
                             file->e_phentsize == sizeof(ElfW(Phdr)) &&
                             file->e_phoff <= ASTEROPE_END &&
                             file->e_phnum <= (ASTEROPE_END - file->e_phoff) / sizeof(ElfW(Phdr));
        const ElfW(Phdr) *loaded = is_known ? asterope_loaded(file, caller - base, 1) : NULL;
        const uint64_t offset = loaded ? caller - base - loaded->p_vaddr + loaded->p_offset : 0;
        for (const struct asterope_place *place = asterope_places; loaded && place->offset; ++place)
            if (place->offset == offset && place->function == function &&
                asterope_is_of(file, base, place))
                ways[place->power] = place->way ? place->way : asterope_libcs[function];
    }
    unsigned from = power, to = power;
    while (from > 0 && ways[from - 1] == ways[power]) --from;
    while (to < 63 && ways[to + 1] == ways[power]) ++to;
    kept->least = (size_t)1 << from;
    kept->span = (to < 63 ? (size_t)2 << to : SIZE_MAX) - kept->least;
    kept->way = ways[power];
}

/* Of a call that is not the one kept first in its group. A signal handler or another thread that
 * comes in between finds another entry. */
static asterope_way *asterope_find(uintptr_t caller, unsigned function, size_t bytes)
{
    struct asterope_kept *kept =
        asterope_kept[asterope_groups[function][caller % ASTEROPE_END] /
                      (sizeof *asterope_kept / ASTEROPE_UNIT)];
    for (int i = 0; i < ASTEROPE_ROOM; ++i, ++kept) {
        uintptr_t there = __atomic_load_n(&kept->caller, __ATOMIC_ACQUIRE);
        if (there == 0 && __atomic_compare_exchange_n(&kept->caller, &there, 1, 0, __ATOMIC_ACQUIRE,
                                                      __ATOMIC_ACQUIRE)) {
            asterope_look_up(caller, function, 63 - (unsigned)__builtin_clzl(bytes), kept);
            __atomic_store_n(&kept->caller, caller, __ATOMIC_RELEASE);
            return kept->way;
        }
        if (there == caller && bytes - kept->least < kept->span) return kept->way;
    }
    return asterope_owns[function];
}

/* --- Every call: without a frame, as each goes on by a jump --- */

#define ASTEROPE_INLINED static inline __attribute__((always_inline, no_instrument_function))
#define ASTEROPE_APART __attribute__((noinline, no_instrument_function)) static

/* What is kept first of the group, null where there is none. */
ASTEROPE_INLINED const struct asterope_kept *asterope_first(uintptr_t caller, unsigned function,
                                                            size_t bytes)
{
    if (__builtin_expect(bytes < ASTEROPE_LEAST, 1)) return NULL;
    const uint16_t *group = &asterope_groups[function][caller % ASTEROPE_END];
    const size_t at = __atomic_load_n(group, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!at, 1)) return NULL;
    return (const struct asterope_kept *)((const char *)asterope_kept + at * ASTEROPE_UNIT);
}

ASTEROPE_INLINED int asterope_is_meant(const struct asterope_kept *kept, uintptr_t caller,
                                       size_t bytes)
{
    return __atomic_load_n(&kept->caller, __ATOMIC_ACQUIRE) == caller &&
           bytes - kept->least < kept->span;
}

ASTEROPE_APART void *asterope_copied_anew(void *to, const void *from, size_t bytes,
                                          unsigned function, uintptr_t caller)
{
    return ((asterope_copy *)asterope_find(caller, function, bytes))(to, from, bytes);
}

ASTEROPE_INLINED void *asterope_copied(void *to, const void *from, size_t bytes, unsigned function,
                                       uintptr_t caller)
{
    const struct asterope_kept *kept = asterope_first(caller, function, bytes);
    if (!kept)
        return function == ASTEROPE_MEMPCPY ? asterope_mempcpy(to, from, bytes)
                                            : asterope_memmove(to, from, bytes);
    if (asterope_is_meant(kept, caller, bytes))
        return ((asterope_copy *)kept->way)(to, from, bytes);
    return asterope_copied_anew(to, from, bytes, function, caller);
}

#ifdef ASTEROPE_ROUTINE_SETS
ASTEROPE_APART void *asterope_filled_anew(void *to, int value, size_t bytes, uintptr_t caller)
{
    return ((asterope_set *)asterope_find(caller, ASTEROPE_MEMSET, bytes))(to, value, bytes);
}

ASTEROPE_INLINED void *asterope_filled(void *to, int value, size_t bytes, uintptr_t caller)
{
    const struct asterope_kept *kept = asterope_first(caller, ASTEROPE_MEMSET, bytes);
    if (!kept) return asterope_memset(to, value, bytes);
    if (asterope_is_meant(kept, caller, bytes))
        return ((asterope_set *)kept->way)(to, value, bytes);
    return asterope_filled_anew(to, value, bytes, caller);
}
#endif

#define ASTEROPE_CALLER (uintptr_t)__builtin_return_address(0)
#define ASTEROPE_GO_MEMCPY(to, from, bytes) \
    asterope_copied(to, from, bytes, ASTEROPE_MEMCPY, ASTEROPE_CALLER)
#define ASTEROPE_GO_MEMMOVE(to, from, bytes) \
    asterope_copied(to, from, bytes, ASTEROPE_MEMMOVE, ASTEROPE_CALLER)
#define ASTEROPE_GO_MEMPCPY(to, from, bytes) \
    asterope_copied(to, from, bytes, ASTEROPE_MEMPCPY, ASTEROPE_CALLER)
#define ASTEROPE_GO_MEMSET(to, value, bytes) asterope_filled(to, value, bytes, ASTEROPE_CALLER)

ASTEROPE_CHECKED void *memcpy(void *__restrict to, const void *__restrict from, size_t bytes)
{
    return ASTEROPE_GO_MEMCPY(to, from, bytes);
}

ASTEROPE_CHECKED void *memmove(void *to, const void *from, size_t bytes)
{
    return ASTEROPE_GO_MEMMOVE(to, from, bytes);
}

ASTEROPE_CHECKED void *mempcpy(void *__restrict to, const void *__restrict from, size_t bytes)
{
    return ASTEROPE_GO_MEMPCPY(to, from, bytes);
}

void *__mempcpy(void *__restrict to, const void *__restrict from, size_t bytes)
    __attribute__((alias("mempcpy"), ASTEROPE_SEEN));

#ifdef ASTEROPE_ROUTINE_SETS
ASTEROPE_CHECKED void *memset(void *to, int value, size_t bytes)
{
    return ASTEROPE_GO_MEMSET(to, value, bytes);
}
#endif
