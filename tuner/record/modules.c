/* The mapped code, for the addresses of callers. It is read from /proc/self/maps when a caller is
 * outside all mappings known so far.
 *
 * A library may be loaded at the place of one that was unloaded. It then gets that one's name, as
 * nothing tells of the change. */
#include "recorder.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_READINGS = 100,
    PAUSE_FACTOR = 200, /* so many durations of a reading pass before the next one */
    PAGES = 64,         /* so many pages are remembered that no reading explains */
};

static uint32_t readings;
static uint64_t next_reading_ns;
static uintptr_t unknown_pages[PAGES];
static char text[8192]; /* used under try_to_change() alone */

static int is_known(uintptr_t address)
{
    const struct raw_file *file = process.file;
    const uint32_t count = __atomic_load_n(&file->header.modules, __ATOMIC_ACQUIRE);
    for (uint32_t i = count; i-- > 0;) {
        if (address >= file->modules[i].start && address < file->modules[i].end) return 1;
    }
    return 0;
}

static const char *hexadecimal(const char *at, uint64_t *number)
{
    *number = 0;
    for (;; ++at) {
        const int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                          : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                                                     : -1;
        if (digit < 0) return at;
        *number = *number << 4 | (uint64_t)digit;
    }
}

static void add_module(uint64_t start, uint64_t end, uint64_t offset, const char *path,
                       size_t bytes)
{
    struct raw_file *file = process.file;
    struct raw_header *header = &file->header;
    for (uint32_t i = 0; i < header->modules; ++i) {
        struct raw_module *known = &file->modules[i];
        if (known->start == start && known->offset == offset && known->path_bytes == bytes) {
            if (end > known->end) known->end = end;
            return;
        }
    }
    if (header->modules >= RAW_MODULES || header->path_bytes + bytes > RAW_PATHS) {
        set_flag(RAW_MODULES_FULL);
        return;
    }
    for (size_t i = 0; i < bytes; ++i) file->paths[header->path_bytes + i] = path[i];
    struct raw_module *added = &file->modules[header->modules];
    added->start = start;
    added->end = end;
    added->offset = offset;
    added->path = header->path_bytes;
    added->path_bytes = (uint32_t)bytes;
    header->path_bytes += (uint32_t)bytes;
    __atomic_store_n(&header->modules, header->modules + 1, __ATOMIC_RELEASE);
}

/* Reads "start-end rwxp offset device inode   path", with a 0 for its end of line. */
static void read_line(const char *line)
{
    uint64_t start, end, offset;
    const char *at = hexadecimal(line, &start);
    if (*at++ != '-') return;
    at = hexadecimal(at, &end);
    for (int i = 0; i < 5; ++i) {
        if (!at[i]) return;
    }
    if (at[3] != 'x') return;
    at = hexadecimal(at + 6, &offset);
    for (int field = 0; field < 2; ++field) {
        while (*at == ' ') ++at;
        while (*at && *at != ' ') ++at;
    }
    while (*at == ' ') ++at;
    size_t bytes = 0;
    while (at[bytes]) ++bytes;
    add_module(start, end, offset, at, bytes);
}

static void read_maps(void)
{
    const int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return;
    size_t held = 0; /* bytes of an unfinished line, half of the buffer at most */
    for (;;) {
        const long got = syscall(SYS_read, file, text + held, sizeof text - held);
        if (got <= 0) break;
        const size_t all = held + (size_t)got;
        size_t line = 0;
        for (size_t i = held; i < all; ++i) {
            if (text[i] != '\n') continue;
            text[i] = 0;
            read_line(text + line);
            line = i + 1;
        }
        held = all - line;
        if (held > sizeof text / 2) held = 0; /* a longer line is dropped */
        for (size_t i = 0; i < held; ++i) text[i] = text[line + i];
    }
    syscall(SYS_close, file);
}

void learn_module(const char *caller, uint64_t now_ns)
{
    const uintptr_t address = (uintptr_t)caller, page = address / RAW_PAGE;
    if (is_known(address) || readings >= MOST_READINGS || now_ns < next_reading_ns ||
        unknown_pages[page % PAGES] == page)
        return;
    uint64_t signals;
    if (!try_to_change(&signals)) return;
    if (process.file->header.modules ||
        reserve(offsetof(struct raw_file, modules),
                sizeof process.file->modules + sizeof process.file->paths)) {
        ++readings;
        read_maps();
        unknown_pages[page % PAGES] = is_known(address) ? 0 : page;
        const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);
        next_reading_ns = end_ns + PAUSE_FACTOR * (end_ns - now_ns);
    } else {
        readings = MOST_READINGS;
    }
    changed(signals);
}

void forget_modules(void)
{
    readings = 0;
    next_reading_ns = 0;
    for (int i = 0; i < PAGES; ++i) unknown_pages[i] = 0;
}
