/* Reads a file that fits a Ceph client's cache, through libcephfs, and says how fast.
 *
 *     cached_read write CONF MIB          makes the file, of MIB MiB;
 *     cached_read read CONF MIB SIZE      reads it by SIZE bytes a call;
 *     cached_read used CONF MIB SIZE      the same, and sums each block;
 *     cached_read limit MIB SIZE          the same from memory of its own: read alone, copied, used.
 *
 * Passes go over the whole file into one buffer, as an application's reads do. A first pass
 * fills the cache, checks every word, and is not timed. */
#include <cephfs/libcephfs.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PASSES = 8, CHUNK = 4 << 20 };
static const char kFile[] = "/cached";

static void fail(const char *what, int code)
{
    fprintf(stderr, "cached_read: %s: %s\n", what, strerror(code < 0 ? -code : code));
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Several sums at once: one would wait for its own additions instead of for memory. */
static uint64_t sum(const uint64_t *words, size_t bytes)
{
    uint64_t sums[16] = {0}, all = 0;
    for (size_t i = 0; i < bytes / sizeof *words; i += 16)
        for (int lane = 0; lane < 16; ++lane) sums[lane] += words[i + lane];
    for (int lane = 0; lane < 16; ++lane) all += sums[lane];
    return all;
}

static uint64_t word_at(uint64_t index) { return index * 0x9e3779b97f4a7c15u; }

static void fill(uint64_t *words, size_t bytes, uint64_t at)
{
    for (size_t i = 0; i < bytes / sizeof *words; ++i)
        words[i] = word_at(at / sizeof *words + i);
}

static uint64_t expected_sum(size_t total)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < total / sizeof all; ++i) all += word_at(i);
    return all;
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) fail("malloc", 12);
    memset(memory, 1, bytes);
    return memory;
}

static void say(const char *what, size_t total, double seconds)
{
    printf("%s %.4f GB/s\n", what, 1e-9 * (double)total * PASSES / seconds);
}

/* ---- Through the client ---- */

static struct ceph_mount_info *mount_it(const char *configuration)
{
    struct ceph_mount_info *mount;
    int error = ceph_create(&mount, "admin");
    if (!error) error = ceph_conf_read_file(mount, configuration);
    if (!error) error = ceph_mount(mount, "/");
    if (error) fail("cannot mount", error);
    return mount;
}

static void write_file(const char *configuration, size_t total)
{
    struct ceph_mount_info *mount = mount_it(configuration);
    const int file = ceph_open(mount, kFile, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (file < 0) fail("cannot open", file);
    uint64_t *chunk = allocate(CHUNK);
    for (size_t at = 0; at < total; at += CHUNK) {
        fill(chunk, CHUNK, at);
        const int wrote = ceph_write(mount, file, (const char *)chunk, CHUNK, (int64_t)at);
        if (wrote != CHUNK) fail("cannot write", wrote);
    }
    const int error = ceph_fsync(mount, file, 0);
    if (error) fail("cannot write back", error);
    ceph_close(mount, file);
    ceph_unmount(mount);
    ceph_release(mount);
}

static void read_all(struct ceph_mount_info *mount, int file, char *buffer, size_t total,
                     size_t size, int used, uint64_t *all)
{
    for (size_t at = 0; at < total; at += size) {
        const int got = ceph_read(mount, file, buffer, (int64_t)size, (int64_t)at);
        if (got != (int)size) fail("cannot read", got < 0 ? got : 5);
        if (used) *all += sum((const uint64_t *)buffer, size);
    }
}

static void read_file(const char *configuration, size_t total, size_t size, int used)
{
    struct ceph_mount_info *mount = mount_it(configuration);
    const int file = ceph_open(mount, kFile, O_RDONLY, 0);
    if (file < 0) fail("cannot open", file);
    char *buffer = allocate(size);
    uint64_t *chunk = allocate(size), all = 0;
    for (size_t at = 0; at < total; at += size) {
        const int got = ceph_read(mount, file, buffer, (int64_t)size, (int64_t)at);
        fill(chunk, size, at);
        if (got != (int)size || memcmp(buffer, chunk, size)) fail("reads what was not written", 5);
    }
    const double begin = now();
    for (int pass = 0; pass < PASSES; ++pass)
        read_all(mount, file, buffer, total, size, used, &all);
    say(used ? "used" : "read", total, now() - begin);
    if (used && all != PASSES * expected_sum(total)) fail("sums what was not written", 5);
    ceph_close(mount, file);
    ceph_unmount(mount);
    ceph_release(mount);
}

/* ---- Without the client ---- */

static void limit(size_t total, size_t size)
{
    const size_t count = total / CHUNK;
    char **chunks = allocate(count * sizeof *chunks);
    for (size_t i = 0; i < count; ++i) {
        chunks[i] = allocate(CHUNK);
        fill((uint64_t *)chunks[i], CHUNK, i * CHUNK);
    }
    char *buffer = allocate(size);
    const uint64_t expected = PASSES * expected_sum(total);
    uint64_t all = 0;
    double begin = now();
    for (size_t i = 0; i < PASSES * count; ++i) all += sum((uint64_t *)chunks[i % count], CHUNK);
    say("alone", total, now() - begin);
    if (all != expected) fail("sums what is not there", 5);
    for (int used = 0; used <= 1; ++used) {
        all = 0;
        begin = now();
        for (size_t at = 0; at < PASSES * total; at += size) {
            memcpy(buffer, chunks[at / CHUNK % count] + at % CHUNK, size);
            /* the compiler must believe that it is used, or the copy goes */
            __asm__ volatile("" : : "r"(buffer) : "memory");
            if (used) all += sum((const uint64_t *)buffer, size);
        }
        say(used ? "copied and used" : "copied", total, now() - begin);
    }
    if (all != expected) fail("sums what was not copied", 5);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "write") && count == 4) {
        write_file(words[2], strtoul(words[3], NULL, 10) << 20);
    } else if ((!strcmp(what, "read") || !strcmp(what, "used")) && count == 5) {
        read_file(words[2], strtoul(words[3], NULL, 10) << 20, strtoul(words[4], NULL, 10),
                  *what == 'u');
    } else if (!strcmp(what, "limit") && count == 4) {
        limit(strtoul(words[2], NULL, 10) << 20, strtoul(words[3], NULL, 10));
    } else {
        fprintf(stderr, "cached_read: see the head of cached_read.c\n");
        return 2;
    }
    return 0;
}
