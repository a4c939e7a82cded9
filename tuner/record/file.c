/* The file that a process records into. */
#include "recorder.h"

#include "instructions.h"
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    MOST_FILES = 1 << 20,  /* for one process id */
    MOST_KEPT = 1024,      /* files of ended processes, in operation */
    KEPT_BYTES = 64 << 20, /* of these, about, if they are alike */
    PROBES = 8,
    NO_REPLACE = 1, /* RENAME_NOREPLACE */
};

static char path[LONGEST_PATH]; /* of the folder, then of the process's file */
static size_t folder_bytes;
static size_t file_takes; /* bytes of the disk or memory, about */

int record_into(const char *folder)
{
    folder_bytes = folder ? strlen(folder) : 0;
    if (!folder_bytes || folder[0] != '/' || folder_bytes > LONGEST_FOLDER) return 0;
    put_text(path, folder);
    return 1;
}

char *put_folder(char *at)
{
    for (size_t i = 0; i < folder_bytes; ++i) *at++ = path[i];
    *at++ = '/';
    return at;
}

static int open_raw(int more)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | more, 0600);
}

static void close_raw(int file) { syscall(SYS_close, file); }

/* For Linux before 5.14, which lacks MADV_POPULATE_WRITE. If the file system cannot reserve
 * space, zeros are written. They only go to these bytes: a whole page of the kernel's may hold
 * other areas, too. */
static int allocate(size_t offset, size_t bytes)
{
    static const char zeros[RAW_PAGE];
    const int file = open_raw(0);
    if (file < 0) return 0;
    int done = syscall(SYS_fallocate, file, 0, offset, bytes) == 0;
    if (!done && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        done = 1;
        for (size_t at = offset; done && at < offset + bytes; at += RAW_PAGE)
            done = syscall(SYS_pwrite64, file, zeros, (size_t)RAW_PAGE, at) == RAW_PAGE;
    }
    close_raw(file);
    return done;
}

/* Has the kernel make the pages. This fails if a store to them would end in SIGBUS. It needs no
 * descriptor, and not the path, which a program may have lost by chroot or with its rights. */
static int have_pages(struct raw_file *mapped, size_t offset, size_t bytes)
{
    const size_t page = process.page_bytes, first = offset & -page;
    const size_t all = (offset + bytes - first + page - 1) & -page;
    return syscall(SYS_madvise, (char *)mapped + first, all, MADV_POPULATE_WRITE) == 0 ||
           (errno == EINVAL && allocate(offset, bytes));
}

int reserve(size_t offset, size_t bytes)
{
    const int done = have_pages(process.file, offset, bytes);
    if (!done) set_flag(RAW_FULL);
    if (done) __atomic_fetch_add(&file_takes, bytes, __ATOMIC_RELAXED);
    return done;
}

void note_clocks(uint64_t monotonic_ns)
{
    if (process.has_no_counter) return; /* the last note stands */
    struct raw_header *header = &process.file->header;
    const uint32_t next = ~header->note & 1;
    header->noted[next].monotonic_ns = monotonic_ns;
    header->noted[next].ticks = ticks_now();
    header->noted[next].cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    __atomic_store_n(&header->note, next, __ATOMIC_RELEASE);
}

/* Appends a number to the path. */
static char *put_number(char *at, uint32_t number)
{
    char digits[10];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count) *at++ = digits[--count];
    return at;
}

/* A new file under a name that an earlier program of this process id has not taken. */
static int create(uint32_t pid)
{
    char *at = put_number(put_folder(path), pid);
    *at++ = '-';
    for (uint32_t serial = 0; serial < MOST_FILES; ++serial) {
        put_text(put_number(at, serial), ".raw");
        const int file = open_raw(O_CREAT | O_EXCL);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/* The file's size, within the limit on the size of files: beyond it a signal ends the program. */
static size_t file_bytes(void)
{
    struct rlimit limit;
    const size_t all = sizeof(struct raw_file), rest = offsetof(struct raw_file, slots);
    const size_t more = trial.is_on ? sizeof(struct trial_file) : 0;
    const int is_limited = syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0;
    if (!is_limited || limit.rlim_cur >= all + more) return all + more;
    if (limit.rlim_cur >= all) return all;
    if (limit.rlim_cur < rest + sizeof(struct raw_slot)) return 0;
    return limit.rlim_cur - (limit.rlim_cur - rest) % sizeof(struct raw_slot);
}

/* Maps the file, with space for the areas that each process has; null: space is short. */
static struct raw_file *map(int file, size_t bytes)
{
    if (!bytes || syscall(SYS_ftruncate, file, bytes) != 0) return NULL;
    /* a system call, as a program may have an mmap of its own that copies */
    void *mapped =
        (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return NULL;
    if (have_pages(mapped, 0, RAW_PAGE) &&
        have_pages(mapped, offsetof(struct raw_file, slots), sizeof(struct raw_slot)))
        return mapped;
    syscall(SYS_munmap, mapped, bytes);
    return NULL;
}

/* A signal handler may fork. Its child may return into a call that is about to count in the
 * parent's file. So a file must stay at that address. If the child's larger file does not fit
 * there, both files stay mapped. */
static struct raw_file *put_in_place_of(struct raw_file *parents, struct raw_file *own,
                                        size_t bytes)
{
    const size_t room = parents->header.file_bytes;
    if (bytes > room || syscall(SYS_mremap, own, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                parents) != (long)parents)
        return own;
    if (bytes < room) syscall(SYS_munmap, (char *)parents + bytes, room - bytes);
    return parents;
}

void remove_file(void) { syscall(SYS_unlinkat, AT_FDCWD, path, 0); }

/* Renames the file to the name of that number. Returns whether it succeeded. A large file has few
 * names, so that the files that stay are bounded in bytes, too. */
static int name_ended(uint32_t number, int how)
{
    const uint32_t room = (uint32_t)(KEPT_BYTES / file_takes);
    const uint32_t names = room < 1 ? 1 : room < MOST_KEPT ? room : MOST_KEPT;
    static char kept[sizeof path];
    char *at = put_folder(kept);
    put_text(at, "ended-");
    put_text(put_number(at + 6, number % names), ".raw");
    if (syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, kept, how) != 0) return 0;
    put_text(path, kept);
    return 1;
}

void keep_file(void)
{
    const uint32_t pid = process.file->header.pid;
    for (uint32_t probe = 0; probe < PROBES; ++probe) {
        if (name_ended(pid + probe, NO_REPLACE)) return;
        if (errno != EEXIST) break; /* not every file system knows NO_REPLACE */
    }
    name_ended(pid, 0);
}

int open_file(void)
{
    const uint32_t pid = (uint32_t)syscall(SYS_getpid);
    const int file = create(pid);
    if (file < 0) return 0;
    const size_t bytes = file_bytes();
    struct raw_file *mapped = map(file, bytes);
    if (!mapped) syscall(SYS_ftruncate, file, (size_t)0);
    close_raw(file);
    if (!mapped) return 0;
    const int is_childs = process.is_parents;
    if (is_childs) mapped = put_in_place_of(process.file, mapped, bytes);
    syscall(SYS_madvise, mapped, bytes, MADV_DONTDUMP);

    struct raw_header *header = &mapped->header;
    header->version = RAW_VERSION;
    header->pid = pid;
    header->file_bytes = bytes;
    header->period = process.period;
    header->slots = 1;
    plain_copy_up(&header->others, &others, sizeof others);
    header->started_realtime_ns = (int64_t)clock_ns(CLOCK_REALTIME);
    const size_t slots_end = bytes < sizeof *mapped ? bytes : sizeof *mapped;
    process.slots_room =
        (uint32_t)((slots_end - offsetof(struct raw_file, slots)) / sizeof(struct raw_slot));
    process.file = mapped;
    process.is_parents = 0;
    file_takes = RAW_PAGE + sizeof(struct raw_slot);
    note_clocks(clock_ns(CLOCK_MONOTONIC));
    header->started = header->noted[header->note];
    if (is_childs) header->started.cpu_ns = 0; /* its clock began with the fork */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    put_text(header->magic, RAW_MAGIC);
    return 1;
}
