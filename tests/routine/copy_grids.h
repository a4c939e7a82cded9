/* Part of copy_check.c: the places and sizes of copies whose buffers lie apart. */
#ifndef ASTEROPE_COPY_GRIDS_H
#define ASTEROPE_COPY_GRIDS_H

/* --- Grids --- */

static bool offsets(size_t first, size_t last, size_t step) {
    for (size_t s = 0; s < OFFSETS; ++s) {
        for (size_t d = 0; d < OFFSETS; ++d) {
            for (size_t bytes = first + (s + d) % step; bytes <= last; bytes += step) {
                if (!copy_once(CANARY_BYTES + d, CANARY_BYTES + s, bytes)) return false;
            }
        }
    }
    return true;
}

bool copy_check_offsets(const struct copy_subject* subject, size_t first, size_t last,
                        size_t step) {
    now.subject = subject;
    SURVIVING(offsets(first, last, step));
}

/* Where a buffer of `bytes` bytes begins in `area`: 0 flush in front, 1 flush behind, from 2 on at
 * the offsets 0..63. */
static size_t placed(struct area area, int place, size_t bytes) {
    if (place == 0) return 0;
    if (place == 1) return (size_t)(area.end - area.start) - bytes;
    return CANARY_BYTES + (size_t)(place - 2) % OFFSETS;
}

/* At the places of the destination and of the source. */
static bool copy_placed(const int places[2], size_t bytes) {
    return copy_once(placed(destination, places[0], bytes), placed(sources[0], places[1], bytes),
                     bytes);
}

static bool guards(size_t first, size_t last) {
    for (size_t bytes = first; bytes <= last; ++bytes) {
        /* 5 and 27: each size has another offset, and each offset other sizes */
        const int s = 2 + (int)(bytes * 5 % OFFSETS);
        const int d = 2 + (int)(bytes * 27 % OFFSETS);
        const int places[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, s}, {1, s}, {d, 0}, {d, 1}};
        for (size_t i = 0; i < COUNT_OF(places); ++i) {
            /* twice: from either source, so that no byte can be right by chance */
            for (int twice = 0; twice < 2; ++twice) {
                if (!copy_placed(places[i], bytes)) return false;
            }
        }
    }
    return true;
}

/* No bytes: the pointers are not looked at, whatever they point at. */
static bool copies_nothing(void) {
    unsigned char* const nowhere[] = {NULL, destination.start - PAGE, destination.end + 8,
                                      sources[0].end + PAGE - 1, (unsigned char*)UINTPTR_MAX};
    enum { PLACES = COUNT_OF(nowhere) };
    now.bytes = now.distance = 0;
    for (int d = 0; d < PLACES; ++d) {
        for (int s = 0; s < PLACES; ++s) {
            now.destination = nowhere[d];
            now.source = nowhere[s];
            if (!returned_right(now.subject->copy(nowhere[d], argument(), 0, 0))) return false;
        }
    }
    return true;
}

bool copy_check_guards(const struct copy_subject* subject, size_t first, size_t last) {
    now.subject = subject;
    SURVIVING(guards(first, last) && (first > 0 || copies_nothing()));
}

static bool page_ends(size_t step) {
    enum { LAST = 130, GAPS = 65 };
    const size_t source_room = (size_t)(sources[0].end - sources[0].start);
    const size_t destination_room = (size_t)(destination.end - destination.start);
    for (int sides = 0; sides < 4; ++sides) { /* bit 0: source, bit 1: destination, to the end */
        for (size_t s = 0; s < GAPS; ++s) {
            for (size_t d = 0; d < GAPS; ++d) {
                for (size_t bytes = (s + d) % step; bytes <= LAST; bytes += step) {
                    const size_t source_at = sides & 1 ? source_room - bytes - s : s;
                    const size_t destination_at = sides & 2 ? destination_room - bytes - d : d;
                    if (!copy_once(destination_at, source_at, bytes)) return false;
                }
            }
        }
    }
    return true;
}

bool copy_check_page_ends(const struct copy_subject* subject, size_t step) {
    now.subject = subject;
    SURVIVING(page_ends(step));
}

static bool around(size_t size) {
    static const int neighbours[] = {-64, -1, 0, 1, 63, 64};
    /* destination, source: as `placed` counts */
    static const int places[][2] = {{2, 2},      {2 + 1, 2 + 63}, {2 + 32, 2 + 17},
                                    {2 + 63, 2}, {0, 1},          {1, 0}};
    const size_t minimum = now.subject->minimum;
    /* large copies are checked at fewer places: their time is the memory's */
    const size_t stride = size > (1 << 20) ? 3 : 1;
    size_t place = 0;
    for (size_t n = 0; n < COUNT_OF(neighbours); ++n) {
        if (neighbours[n] < 0 && size < minimum + (size_t)-neighbours[n]) continue;
        const size_t bytes = size + (size_t)neighbours[n];
        for (size_t i = n % stride; i < COUNT_OF(places); i += stride, ++place) {
            if (!copy_placed(places[i], bytes)) return false;
        }
    }
    return true;
}

bool copy_check_around(const struct copy_subject* subject, size_t size) {
    now.subject = subject;
    SURVIVING(around(size));
}

bool copy_check_doubling(const struct copy_subject* subject, size_t first, size_t last) {
    for (size_t size = first; size <= last; size *= 2) {
        if (!copy_check_around(subject, size)) return false;
    }
    return true;
}

#endif
