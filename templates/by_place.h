/* The way of a copy or set by its place: what a map of the program's places says, else the routine.
 *
 * Included by libc_names.h for preload.c. ASTEROPE_PLACES names the map's table, which
 * asterope-generate --places writes. A place is a module, by its build id, the offset of a return
 * address in its file, a function, and a size class. Whatever the map says, each way copies right: a
 * wrong one, such as that of a library which was closed, for another one that lies there now, can
 * only be slower.
 *
 * A copy looks at its size, at a bit for the last 12 bits of its return address, which a file is
 * never moved by, and into a table of the return addresses that were found already. The first call
 * of a place that may be meant is looked up, by _dl_find_object: it takes no lock and allocates
 * nothing, as unwinders call it in signal handlers. dl_iterate_phdr and dladdr wait for the loader's
 * lock, which another thread may hold for as long as the constructor of a library takes; a list of
 * modules that is made when this one is loaded lacks those that come later, such as most of Python's.
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
#include ASTEROPE_PLACES

enum {
    ASTEROPE_LEAST = 512, /* smaller copies were not tried place by place */
    ASTEROPE_PROBES = 8,
};
#ifndef ASTEROPE_KEPT
#define ASTEROPE_KEPT 4096 /* return addresses, a power of two; what finds no room is the routine's */
#endif

/* Written once, the way before the key; 1: it is being written. */
struct asterope_kept {
    uint64_t key;
    asterope_way *way; /* null: the routine's */
};
static struct asterope_kept asterope_kept[ASTEROPE_KEPT];
static uint64_t asterope_ends[64]; /* a bit for each end of an offset; none before the start */
static asterope_way *asterope_libcs[ASTEROPE_FUNCTIONS];
/* By a pointer: a first call by name could be a long one, into the dynamic linker. */
static int (*asterope_find_object)(void *, struct dl_find_object *);

#define ASTEROPE_INLINED static inline __attribute__((always_inline, no_instrument_function))

__attribute__((constructor)) static void asterope_start(void)
{
    static const char *const names[] = {"memcpy", "memmove", "memcpy", "memset"};
    for (int i = 0; i < ASTEROPE_FUNCTIONS; ++i)
        asterope_libcs[i] = (asterope_way *)dlsym(RTLD_NEXT, names[i]);
    asterope_find_object = _dl_find_object;
    for (const struct asterope_place *place = asterope_places; place->offset; ++place)
        __atomic_fetch_or(&asterope_ends[place->offset / 64 % 64],
                          (uint64_t)1 << place->offset % 64, __ATOMIC_RELEASE);
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

/* The caller's module stays loaded meanwhile, as the caller's code runs. */
static asterope_way *asterope_look_up(uintptr_t caller, unsigned function, unsigned power)
{
    enum { PAGE = 4096 }; /* of the module, that is surely readable */
    struct dl_find_object module;
    if (asterope_find_object((void *)caller, &module) != 0) return NULL;
    const ElfW(Ehdr) *file = (const ElfW(Ehdr) *)module.dlfo_map_start;
    if (!asterope_same(file->e_ident, ELFMAG, SELFMAG) || file->e_phentsize != sizeof(ElfW(Phdr)) ||
        file->e_phoff > PAGE || file->e_phnum > (PAGE - file->e_phoff) / sizeof(ElfW(Phdr)))
        return NULL;
    const ElfW(Addr) base = module.dlfo_link_map->l_addr;
    const ElfW(Phdr) *loaded = asterope_loaded(file, caller - base, 1);
    if (!loaded) return NULL;
    const uint64_t offset = caller - base - loaded->p_vaddr + loaded->p_offset;
    for (const struct asterope_place *place = asterope_places; place->offset; ++place)
        if (place->offset == offset && place->power == power && place->function == function &&
            asterope_is_of(file, base, place))
            return place->way ? place->way : asterope_libcs[function];
    return NULL;
}

static size_t asterope_bucket(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % ASTEROPE_KEPT;
}

/* Of a call that is not at the first place in the table for it. A signal handler or another thread
 * that comes in between finds another slot. */
__attribute__((noinline)) static asterope_way *asterope_find(uint64_t key)
{
    for (size_t i = 0; i < ASTEROPE_PROBES && i < ASTEROPE_KEPT; ++i) {
        struct asterope_kept *kept = &asterope_kept[(asterope_bucket(key) + i) % ASTEROPE_KEPT];
        uint64_t there = __atomic_load_n(&kept->key, __ATOMIC_ACQUIRE);
        if (there == 0 && __atomic_compare_exchange_n(&kept->key, &there, 1, 0, __ATOMIC_ACQUIRE,
                                                      __ATOMIC_ACQUIRE)) {
            kept->way = asterope_look_up(key >> 8, key & 3, key >> 2 & 63);
            __atomic_store_n(&kept->key, key, __ATOMIC_RELEASE);
            return kept->way;
        }
        if (there == key) return kept->way;
    }
    return NULL;
}

/* --- Every call --- */

ASTEROPE_INLINED asterope_way *asterope_way_of(uintptr_t caller, unsigned function, size_t bytes)
{
    const uint64_t ends = __atomic_load_n(&asterope_ends[caller / 64 % 64], __ATOMIC_ACQUIRE);
    if (__builtin_expect(!(ends >> caller % 64 & 1), 1)) return NULL;
    /* no address of a program has more than 56 bits */
    const uint64_t power = 63 - (unsigned)__builtin_clzl(bytes);
    const uint64_t key = (uint64_t)caller << 8 | power << 2 | function;
    const struct asterope_kept *kept = &asterope_kept[asterope_bucket(key)];
    if (__atomic_load_n(&kept->key, __ATOMIC_ACQUIRE) == key) return kept->way;
    return asterope_find(key);
}

/* Only memmove's way is for buffers that overlap. */
ASTEROPE_INLINED int asterope_overlap(const void *to, const void *from, size_t bytes)
{
    return (uintptr_t)to - (uintptr_t)from < bytes || (uintptr_t)from - (uintptr_t)to < bytes;
}

ASTEROPE_INLINED void *asterope_copied(void *to, const void *from, size_t bytes, unsigned function,
                                       asterope_copy *own)
{
    if (bytes >= ASTEROPE_LEAST) {
        asterope_copy *way = (asterope_copy *)asterope_way_of(
            (uintptr_t)__builtin_return_address(0), function, bytes);
        if (way && !asterope_overlap(to, from, bytes)) {
            if (function != ASTEROPE_MEMPCPY) return way(to, from, bytes);
            return (char *)way(to, from, bytes) + bytes;
        }
    }
    return own(to, from, bytes);
}

ASTEROPE_INLINED void *asterope_filled(void *to, int value, size_t bytes, asterope_set *own)
{
    if (bytes >= ASTEROPE_LEAST) {
        asterope_set *way = (asterope_set *)asterope_way_of((uintptr_t)__builtin_return_address(0),
                                                            ASTEROPE_MEMSET, bytes);
        if (way) return way(to, value, bytes);
    }
    return own(to, value, bytes);
}

#define ASTEROPE_GO_MEMCPY(to, from, bytes) \
    asterope_copied(to, from, bytes, ASTEROPE_MEMCPY, asterope_memmove)
#define ASTEROPE_GO_MEMMOVE(to, from, bytes) \
    asterope_copied(to, from, bytes, ASTEROPE_MEMMOVE, asterope_memmove)
#define ASTEROPE_GO_MEMPCPY(to, from, bytes) \
    asterope_copied(to, from, bytes, ASTEROPE_MEMPCPY, asterope_mempcpy)
#define ASTEROPE_GO_MEMSET(to, value, bytes) asterope_filled(to, value, bytes, asterope_memset)

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
