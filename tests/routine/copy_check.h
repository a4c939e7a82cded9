/* Checks of a copy or set function: what it writes, what it must not touch, and how it leaves the
 * CPU. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Every checked function is called so; one that takes no distance ignores it. */
typedef void* (*copy_function)(void* destination, const void* source, size_t bytes,
                               size_t distance);

struct copy_subject {
    const char* name;
    copy_function copy;
    size_t distances[2]; /* Prefetch distances in bytes, taken in turn. */
    size_t minimum;      /* It may be called with this size and more. */

    bool returns_end;    /* It returns the byte behind the copy, as mempcpy does. */
    bool sets; /* It gets a byte instead of the source, as memset does, see copy_check_byte. */
    void (*fifth)(void); /* A plan's `function` gets it as its fifth argument. */
};

/* Maps the buffers: call once, with the largest size that will be copied. */
void copy_check_start(size_t largest);

/* Fills the sources for subjects that set, one with the byte and the other with its
 * complement. Such a subject gets the byte in place of a source's address, below bits that mean
 * nothing. Copies cannot be checked any more. */
void copy_check_byte(unsigned char byte);

/* The checks of a function, and how close they are. A field of 0 or NULL leaves its check out. */
struct copy_plan {
    /* The function itself, called with the subject's arguments. Besides the copy, it must keep
     * the callee-saved registers, the stack pointer, the stack, the direction flag and MXCSR. It
     * must leave an empty x87 stack and clean upper vector halves. */
    void (*function)(void);

    /* Sizes from `first`, or else the subject's minimum, to `last`. Source, destination, or both
     * lie flush against the guard page behind and the one in front. The other one is at the
     * offsets 0..63 in turn. Size 0 also runs where nothing is mapped. */
    size_t first, last;

    /* A step of sizes 0..130, 0 to 64 bytes away from a guard page. Each side lies behind the
     * one in front or before the one behind, all gaps of the one with all gaps of the other. So
     * all bytes that a register of 64 bytes masks off lie in the guard page, or a part of them. */
    size_t page_ends;

    /* A step of sizes from `first` to `last`, with every source x destination offset 0..63. The
     * steps begin elsewhere for each pair of offsets. So with any odd step up to 31 every size
     * meets every source offset, every destination offset and every difference of the
     * two. `shifted`: by so many sizes, for subjects that share the grid. */
    size_t offsets, shifted;

    /* A step of overlapping buffers' sizes from the subject's minimum to 600, and some more up to
     * `largest`: at the distances -130..130 and near multiples of a line and of a page. */
    size_t overlaps;

    /* Sizes and their neighbours, at several offsets and flush against both guard pages: the powers
     * of two from `doubling` to `largest`, and some others. */
    size_t doubling, largest;
    const size_t* around;
    size_t around_count;

    /* One buffer as both: compilers take for granted that memcpy may be given it. And a buffer
     * that must not be written where it is moved onto itself, of more bytes than small copies
     * do. */
    bool onto_itself, unwritten;
};

/* Returns true, or prints one line `FAIL NAME: reason` to stdout. A copy that dies of a signal
 * fails the check, too, and the program goes on. */
bool copy_check(const struct copy_subject* subject, const struct copy_plan* plan);

/* The same, and prints `ok NAME`. A subject that sets runs with three bytes, each with its
 * complement: a set of zeros may take other ways than that of another byte. */
bool copy_check_all(const struct copy_subject* subject, const struct copy_plan* plan);

/* One copy within the memory of overlapping buffers, from the byte `source_at` of it to `distance`
 * bytes behind that, overlapping or not. All of it must lie in the first copy_check_room() bytes,
 * which end at a guard page and begin behind one. */
bool copy_check_move(const struct copy_subject* subject, size_t source_at, ptrdiff_t distance,
                     size_t bytes);
size_t copy_check_room(void);

/* Ends the copy and the check under way with a failure: for subjects that find something wrong. */
__attribute__((noreturn)) void copy_check_abort(const char* reason);

/* Whether this CPU shows if upper vector halves are dirty. Where it does not, they are not
 * checked. */
bool copy_check_sees_dirty_halves(void);
