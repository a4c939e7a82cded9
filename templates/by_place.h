/* The way of a copy or set by its place: what a map of the program's places says, else the routine.
 *
 * Included by preload.c, behind a routine that was rendered to ask here: its assembly jumps to
 * asterope_copy_at and asterope_set_at, with the registers as it got them but for what these take
 * more. ASTEROPE_PLACES names the map's table, which asterope-generate --places writes. A place is
 * a module, by its build id, the offset of a return address in its file, a function, and a size
 * class. Whatever the map says, buffers are copied right: a wrong way, such as that of a library
 * which was closed, for another one that lies there now, can only be slower.
 *
 * The routine asks with sizes that places have, behind its small copies. It does so where the last
 * 12 bits of the return address, by which no file is ever moved, are those of a place. Then the
 * entry that was found there already counts: its return address, and its sizes. Buffers that overlap take the
 * routine: an entry point is not for them. The first call of a place that may be meant is looked
 * up by _dl_find_object. This takes no lock and allocates nothing, as unwinders call it in signal
 * handlers. (dl_iterate_phdr and dladdr wait for the loader's lock. Another thread may hold that
 * for as long as the constructor of a library takes. A list of modules that is made when this one
 * is loaded lacks those that come later, such as most of Python's.)
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

enum { ASTEROPE_COPIES, ASTEROPE_SETS, ASTEROPE_KINDS };

struct asterope_place {
    uint64_t offset;
    unsigned power; /* sizes from 2^power on, below twice that */
    unsigned kind;
    asterope_way *way; /* null: libc's */
    unsigned id_bytes;
    unsigned char id[32];
};

#include ASTEROPE_PLACES

enum {
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
/* In groups of one kind and one end of offsets. No place is in group 0. */
static struct asterope_kept asterope_kept[ASTEROPE_PLACES_COUNT + 1][ASTEROPE_ROOM];
_Static_assert(sizeof asterope_kept / ASTEROPE_UNIT <= UINT16_MAX, "too many places");
/* Where each begins, in units; none before the start. */
__attribute__((used, visibility("hidden"))) uint16_t asterope_copy_groups[ASTEROPE_END],
    asterope_set_groups[ASTEROPE_END];
static asterope_way *asterope_libcs[ASTEROPE_KINDS];
/* By a pointer: a first call by name could be a long one, into the dynamic linker. */
static int (*asterope_find_object)(void *, struct dl_find_object *);

__attribute__((constructor)) static void asterope_start(void)
{
    /* glibc's memcpy is its memmove */
    asterope_libcs[ASTEROPE_COPIES] = (asterope_way *)dlsym(RTLD_NEXT, "memmove");
    asterope_libcs[ASTEROPE_SETS] = (asterope_way *)dlsym(RTLD_NEXT, "memset");
    asterope_find_object = _dl_find_object;
    uint16_t last = 0;
    for (const struct asterope_place *place = asterope_places; place->offset; ++place) {
        uint16_t *groups = place->kind == ASTEROPE_SETS ? asterope_set_groups : asterope_copy_groups;
        uint16_t *group = &groups[place->offset % ASTEROPE_END];
        last += sizeof *asterope_kept / ASTEROPE_UNIT;
        if (!*group) __atomic_store_n(group, last, __ATOMIC_RELEASE);
    }
}

/* --- A place's first call --- */

/* The loaded part of the file that holds these addresses; null: there is not one. */
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
static void asterope_look_up(uintptr_t caller, unsigned kind, unsigned power,
                             asterope_way *as_ever, struct asterope_kept *kept)
{
    asterope_way *ways[64];
    for (int i = 0; i < 64; ++i) ways[i] = NULL;
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
            if (place->offset == offset && place->kind == kind &&
                asterope_is_of(file, base, place))
                ways[place->power] = place->way ? place->way : asterope_libcs[kind];
    }
    unsigned from = power, to = power;
    while (from > 0 && ways[from - 1] == ways[power]) --from;
    while (to < 63 && ways[to + 1] == ways[power]) ++to;
    kept->least = (size_t)1 << from;
    kept->span = (to < 63 ? (size_t)2 << to : SIZE_MAX) - kept->least;
    kept->way = ways[power] ? ways[power] : as_ever;
}

/* The way of a call that is not the one kept first in its group. A signal handler or another
 * thread that comes in between finds another entry. */
static asterope_way *asterope_find(struct asterope_kept *kept, uintptr_t caller, unsigned kind,
                                   size_t bytes, asterope_way *as_ever)
{
    for (int i = 0; i < ASTEROPE_ROOM; ++i, ++kept) {
        uintptr_t there = __atomic_load_n(&kept->caller, __ATOMIC_ACQUIRE);
        if (there == 0 && __atomic_compare_exchange_n(&kept->caller, &there, 1, 0, __ATOMIC_ACQUIRE,
                                                      __ATOMIC_ACQUIRE)) {
            asterope_look_up(caller, kind, 63 - (unsigned)__builtin_clzl(bytes), as_ever, kept);
            __atomic_store_n(&kept->caller, caller, __ATOMIC_RELEASE);
            return kept->way;
        }
        if (there == caller && bytes - kept->least < kept->span) return kept->way;
    }
    return as_ever;
}

/* --- Every call that gets here, by a jump: the return address is the caller's of the copy --- */

#define ASTEROPE_JUMPED_TO __attribute__((used, visibility("hidden"), no_instrument_function))
#define ASTEROPE_APART __attribute__((noinline, no_instrument_function)) static

static inline struct asterope_kept *asterope_first(size_t group)
{
    return (struct asterope_kept *)((char *)asterope_kept + group * ASTEROPE_UNIT);
}

static inline int asterope_is_meant(const struct asterope_kept *kept, uintptr_t caller,
                                    size_t bytes)
{
    return __builtin_expect(__atomic_load_n(&kept->caller, __ATOMIC_ACQUIRE) == caller, 1) &&
           __builtin_expect(bytes - kept->least < kept->span, 1);
}

/* Whether the buffers overlap; ways are for others. */
static inline int asterope_overlap(const void *to, const void *from, size_t bytes)
{
    return (uintptr_t)to - (uintptr_t)from + bytes - 1 < 2 * bytes - 1;
}

ASTEROPE_APART void *asterope_copy_anew(void *to, const void *from, size_t bytes, uintptr_t caller,
                                        asterope_copy *as_ever, void *result)
{
    struct asterope_kept *kept = asterope_first(asterope_copy_groups[caller % ASTEROPE_END]);
    asterope_way *way = (asterope_way *)as_ever;
    if (!asterope_overlap(to, from, bytes))
        way = asterope_find(kept, caller, ASTEROPE_COPIES, bytes, way);
    ((asterope_copy *)way)(to, from, bytes);
    return result;
}

ASTEROPE_APART void *asterope_set_anew(void *to, int value, size_t bytes, uintptr_t caller,
                                       asterope_set *as_ever)
{
    struct asterope_kept *kept = asterope_first(asterope_set_groups[caller % ASTEROPE_END]);
    asterope_way *way = asterope_find(kept, caller, ASTEROPE_SETS, bytes, (asterope_way *)as_ever);
    return ((asterope_set *)way)(to, value, bytes);
}

/* `group`: of the caller; `result`: what the caller is to get, which of mempcpy is the end. */
ASTEROPE_JUMPED_TO void *asterope_copy_at(void *to, const void *from, size_t bytes, size_t group,
                                          asterope_copy *as_ever, void *result);
void *asterope_copy_at(void *to, const void *from, size_t bytes, size_t group,
                       asterope_copy *as_ever, void *result)
{
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    const struct asterope_kept *kept = asterope_first(group);
    if (asterope_is_meant(kept, caller, bytes) && __builtin_expect(result == to, 1) &&
        __builtin_expect(!asterope_overlap(to, from, bytes), 1))
        return ((asterope_copy *)kept->way)(to, from, bytes);
    return asterope_copy_anew(to, from, bytes, caller, as_ever, result);
}

ASTEROPE_JUMPED_TO void *asterope_set_at(void *to, int value, size_t bytes, size_t group,
                                         asterope_set *as_ever, void *result);
void *asterope_set_at(void *to, int value, size_t bytes, size_t group, asterope_set *as_ever,
                      void *result)
{
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    const struct asterope_kept *kept = asterope_first(group);
    (void)result;
    if (asterope_is_meant(kept, caller, bytes))
        return ((asterope_set *)kept->way)(to, value, bytes);
    return asterope_set_anew(to, value, bytes, caller, as_ever);
}
