/* Checks of a copy or set function: what it writes, what it must not touch, and how it leaves the
 * CPU. */
#ifndef ASTEROPE_COPY_CHECK_H
#define ASTEROPE_COPY_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* What every checked function is called as; one that takes no distance ignores it. */
typedef void* (*copy_function)(void* destination, const void* source, size_t bytes,
                               size_t distance);

struct copy_subject {
    const char* name;
    copy_function copy;
    size_t distances[2]; /* prefetch distances in bytes, taken in turn */
    size_t minimum;      /* the smallest size it may be called with */
    bool returns_end;    /* the byte behind the copy, as mempcpy does, and not the destination */
    bool sets; /* as memset does: gets a byte instead of the source, see copy_check_byte */
    void (*fifth)(void); /* what the function of copy_check_state gets as its fifth argument */
};

/* Maps the buffers: call once, with the largest size that will be copied. */
void copy_check_start(size_t largest);

/* Fills the sources for subjects that set, one with the byte and the other with its complement:
 * such a subject gets, as the address of a source would be, the byte that is all over it, below
 * bits that mean nothing. Copies cannot be checked any more. */
void copy_check_byte(unsigned char byte);

/* Each check below returns true, or prints one line `FAIL NAME: reason` to stdout. A copy that dies
 * of a signal fails the check too, and the program goes on. */

/* Every source x destination offset 0..63 with the sizes first..last in steps of `step`. The steps
 * begin elsewhere for each pair of offsets, so that with any odd step up to 31 every size meets
 * every source offset, every destination offset and every difference of the two modulo 64. */
bool copy_check_offsets(const struct copy_subject* subject, size_t first, size_t last, size_t step);

/* Sizes first..last flush against the guard page behind and the one in front: source, destination,
 * or both, the other one at the offsets 0..63 in turn. Size 0 also where nothing is mapped. */
bool copy_check_guards(const struct copy_subject* subject, size_t first, size_t last);

/* Sizes 0..130 in steps of `step`, 0 to 64 bytes away from a guard page: each side behind the one
 * in front or before the one behind, all gaps of the one with all gaps of the other. So all that a
 * register of 64 bytes masks off lies in the guard page, or a part of it. */
bool copy_check_page_ends(const struct copy_subject* subject, size_t step);

/* `size` and its neighbours, at several offsets and flush against both guard pages. */
bool copy_check_around(const struct copy_subject* subject, size_t size);

/* copy_check_around for the powers of two from `first` to `last`. */
bool copy_check_doubling(const struct copy_subject* subject, size_t first, size_t last);

/* Overlapping buffers at the distances -130..130 and near multiples of a line and of a page: sizes
 * from the subject's minimum to 600 in steps of `step`, and some more up to `largest`. */
bool copy_check_overlaps(const struct copy_subject* subject, size_t step, size_t largest);

/* One copy within the memory of copy_check_overlaps, from the byte `source_at` of it to `distance`
 * bytes behind that, overlapping or not. All of it must lie in the first copy_check_room() bytes,
 * which end at a guard page and begin behind one. */
bool copy_check_move(const struct copy_subject* subject, size_t source_at, ptrdiff_t distance,
                     size_t bytes);
size_t copy_check_room(void);

/* Ends the copy and the check under way with a failure: for subjects that find something wrong. */
__attribute__((noreturn)) void copy_check_abort(const char* reason);

/* What a function owes its caller besides the copy: callee-saved registers, stack pointer, nothing
 * written to the stack, direction flag, MXCSR, an empty x87 stack, clean upper vector halves.
 * `function` is the function itself, called with the subject's arguments. */
bool copy_check_state(const struct copy_subject* subject, void (*function)(void));

/* Whether this CPU shows if upper vector halves are dirty; where not, copy_check_state goes on
 * without. */
bool copy_check_sees_dirty_halves(void);

/* What is checked of a function, and how closely. */
struct copy_plan {
    void (*function)(void);              /* for copy_check_state; NULL: unchecked */
    size_t last;                         /* of the sizes with all offsets and by the guard pages */
    size_t page_ends, offsets, overlaps; /* steps; of the first and the last 0: unchecked */
    size_t doubling, largest;            /* the first size that is doubled (0: none), the last */
    const size_t* around;
    size_t around_count;
    bool onto_itself; /* compilers take it for granted that memcpy may be given one buffer as both */
    bool unwritten;   /* a buffer that is moved onto itself, from more bytes on than small copies do */
};

/* All of the above, from the subject's minimum on, and prints `ok NAME`. Of a subject that sets,
 * with three bytes, each with its complement: a set of zeros may take other ways than that of
 * another. */
bool copy_check_all(const struct copy_subject* subject, const struct copy_plan* plan);

#endif
