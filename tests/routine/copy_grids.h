/* Part of copy_check.c: the places and sizes of copies. */
#pragma once

static bool offsets(size_t first, size_t last, size_t step, size_t shifted) {
    for (size_t s = 0; s < OFFSETS; ++s) {
        for (size_t d = 0; d < OFFSETS; ++d) {
            for (size_t bytes = first + (s + d + shifted) % step; bytes <= last; bytes += step) {
                if (!copy_once(CANARY_BYTES + d, CANARY_BYTES + s, bytes)) return false;
            }
        }
    }
    return true;
}

/* Where a buffer of `bytes` bytes begins in `area`: 0 flush in front, 1 flush behind, from 2 on at
 * the offsets 0..63. */
static size_t placed(struct area area, int place, size_t bytes) {
    if (place == 0) return 0;
    if (place == 1) return area.bytes - bytes;
    return CANARY_BYTES + (size_t)(place - 2) % OFFSETS;
}

/* At the places of the destination and of the source. */
static bool copy_placed(const int places[2], size_t bytes) {
    return copy_once(placed(destination, places[0], bytes), placed(sources[0], places[1], bytes),
                     bytes);
}

/* Copies no bytes: the pointers must not be read, and may point anywhere. */
static bool copies_nothing(void) {
    unsigned char* const end = destination.start + destination.bytes;
    unsigned char* const nowhere[] = {NULL, destination.start - PAGE, end + 8, end + PAGE - 1,
                                      (unsigned char*)UINTPTR_MAX};
    enum { PLACES = COUNT_OF(nowhere) };
    now.bytes = now.distance = 0;
    for (int i = 0; i < PLACES * PLACES; ++i) {
        now.destination = nowhere[i / PLACES];
        now.source = nowhere[i % PLACES];
        if (!returned_right(now.subject->copy(now.destination, argument(), 0, 0))) return false;
    }
    return true;
}

static bool guards(size_t first, size_t last) {
    for (size_t bytes = first; bytes <= last; ++bytes) {
        /* 5 and 27: each size has another offset, and each offset other sizes */
        const int s = 2 + (int)(bytes * 5 % OFFSETS);
        const int d = 2 + (int)(bytes * 27 % OFFSETS);
        const int places[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, s}, {1, s}, {d, 0}, {d, 1}};
        /* twice: from either source, so that no byte can be right by chance */
        for (size_t i = 0; i < 2 * COUNT_OF(places); ++i) {
            if (!copy_placed(places[i / 2], bytes)) return false;
        }
    }
    return first > 0 || copies_nothing();
}

static bool page_ends(size_t step) {
    enum { LAST = 130, GAPS = 65 };
    const size_t room = destination.bytes;    /* and the source's */
    for (int sides = 0; sides < 4; ++sides) { /* bit 0: source, bit 1: destination, to the end */
        for (size_t s = 0; s < GAPS; ++s) {
            for (size_t d = 0; d < GAPS; ++d) {
                for (size_t bytes = (s + d) % step; bytes <= LAST; bytes += step) {
                    const size_t source_at = sides & 1 ? room - bytes - s : s;
                    const size_t destination_at = sides & 2 ? room - bytes - d : d;
                    if (!copy_once(destination_at, source_at, bytes)) return false;
                }
            }
        }
    }
    return true;
}

static bool around(size_t size) {
    static const int neighbours[] = {-64, -1, 0, 1, 63, 64};
    /* destination, source: as `placed` counts */
    static const int places[][2] = {{2, 2},      {2 + 1, 2 + 63}, {2 + 32, 2 + 17},
                                    {2 + 63, 2}, {0, 1},          {1, 0}};
    const size_t minimum = now.subject->minimum;
    /* large copies are checked at fewer places: their time is the memory's */
    const size_t stride = size > (1 << 20) ? 3 : 1;
    for (size_t n = 0; n < COUNT_OF(neighbours); ++n) {
        if (neighbours[n] < 0 && size < minimum + (size_t)-neighbours[n]) continue;
        const size_t bytes = size + (size_t)neighbours[n];
        for (size_t i = n % stride; i < COUNT_OF(places); i += stride) {
            if (!copy_placed(places[i], bytes)) return false;
        }
    }
    return true;
}

static bool overlaps(size_t step, size_t largest) {
    static const int far[] = {191,  192,  193,  255,  256,  257,  511, 512,
                              4032, 4033, 4095, 4096, 4097, 4159, 4160};
    static const size_t sizes[] = {601,  640,  1000,  1023,  1024,  1025,   2047,   2049,
                                   4096, 4161, 10000, 65536, 65599, 262145, 1048576};
    enum { LAST = 130, MOST = LAST + COUNT_OF(far) };
    for (int i = -MOST; i <= MOST; ++i) {
        const int distance = abs(i) <= LAST ? i : i < 0 ? -far[-i - LAST - 1] : far[i - LAST - 1];
        const size_t gap = (size_t)abs(distance);
        const size_t last = 600 / step;
        for (size_t n = 0; n <= last + COUNT_OF(sizes); ++n) {
            const size_t bytes = n <= last ? n * step + gap % step : sizes[n - last - 1];
            if (bytes > largest) break;
            if (bytes < now.subject->minimum) continue;
            const size_t places[] = {0, overlap.bytes - gap - bytes, /* flush in front and behind */
                                     CANARY_BYTES + (bytes * 7 + gap * 11) % OFFSETS};
            for (size_t p = 0; p < 3; ++p) {
                const size_t source_at = places[p] + (distance < 0 ? gap : 0);
                const size_t destination_at = places[p] + (distance > 0 ? gap : 0);
                if (!move_once(destination_at, source_at, bytes)) return false;
            }
        }
    }
    return true;
}

static bool onto_itself(void) {
    static const size_t sizes[] = {129, 300, 700, 1500, 5000, 3 * PAGE + 700};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        if (!move_once(64 + 7 * i, 64 + 7 * i, sizes[i])) return false;
    }
    return true;
}

/* The sources cannot be written. */
static bool unwritten(void) {
    static const size_t sizes[] = {513, 4096, 30001};
    now.destination = sources[0].start + 64;
    now.source = now.destination;
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        now.bytes = sizes[i];
        if (!returned_right(now.subject->copy(now.destination, now.source, sizes[i], 0)))
            return false;
    }
    return true;
}
