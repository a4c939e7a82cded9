/* Keeps the trial's figures: a thread's table of places, and the pages of their blocks. */
#include "trial.h"

#include "draw.h"

#include <time.h>

enum {
    PROBES = 8,
    SLOWER = 10,       /* a way leaves once it was slower in so many more cycles than it was not */
    NOT_SLOWER = -100, /* the count's bound, so that a change is noticed soon */
};
static const uint32_t NOWHERE = UINT32_MAX;

static void flag(uint32_t what)
{
    __atomic_fetch_or(&trial_file()->header.flags, what, __ATOMIC_RELAXED);
}

/* The offset of an address in the raw file. */
static size_t offset_of(const void *at)
{
    return (size_t)((const char *)at - (char *)process.file);
}

/* If not, other flags of the file tell why. */
static int may_reserve(void) { return !process.limit && !(process.file->header.flags & RAW_FULL); }

/* Returns the number of a page, or NOWHERE. */
static uint32_t take_page(uint16_t kind)
{
    struct trial_file *file = trial_file();
    struct trial_header *header = &file->header;
    const long number = tried.table - file->thread; /* now: see add_place() */
    if (!may_reserve()) return NOWHERE;
    if (header->pages >= TRIAL_PAGES ||
        (kind == TRIAL_OWN && header->own_pages >= TRIAL_OWN_PAGES)) {
        flag(TRIAL_FULL);
        return NOWHERE;
    }
    if (kind == TRIAL_OWN) __atomic_fetch_add(&header->own_pages, 1, __ATOMIC_RELAXED);
    const uint32_t page = __atomic_fetch_add(&header->pages, 1, __ATOMIC_RELAXED);
    if (page >= TRIAL_PAGES || !reserve(offset_of(file->block[page]), sizeof file->block[page])) {
        flag(TRIAL_FULL);
        return NOWHERE;
    }
    trial.has_figures = 1;
    file->page[page].thread = (uint16_t)number;
    __atomic_store_n(&file->page[page].kind, kind, __ATOMIC_RELEASE);
    return page;
}

/* Whether there is room for the head of the trial's part; reserves it. */
static int has_room(void)
{
    const struct trial_file *file = trial_file();
    return process.file && may_reserve() &&
           process.file->header.file_bytes >= sizeof *process.file + sizeof *file &&
           reserve(offset_of(file), offsetof(struct trial_file, thread));
}

/* Several threads may do this at the same time: all of them write the same. */
int begin_trial_file(void)
{
    if (!has_room()) return 0;
    struct trial_header *header = &trial_file()->header;
    trial.is_begun = 1;
    if (header->version) return 1;
    if (!trial.has_counter) flag(TRIAL_NO_COUNTER);
    if (trial.failed) flag(TRIAL_NO_WAY);
    header->only_way = trial.only_way;
    header->is_short = trial.by_place;
    header->kind = trial.kind;
    put_text(header->magic, TRIAL_MAGIC);
    __atomic_store_n(&header->version, TRIAL_VERSION, __ATOMIC_RELEASE);
    return 1;
}

void tell_of_no_counter(void) { flag(TRIAL_NO_COUNTER); }

struct trial_thread *claim_table(void)
{
    if (!thread.slot && !claim_slot()) return NULL;
    if (!begin_trial_file() || trial.failed || !trial.has_counter) return NULL;
    struct trial_thread *table = &trial_file()->thread[thread.slot_number];
    if (thread.slot_number >= TRIAL_THREADS ||
        process.file->header.owners[thread.slot_number] != thread.id) {
        flag(TRIAL_THREADS_FULL);
        return NULL;
    }
    if (!reserve(offset_of(table), offsetof(struct trial_thread, place[TRIAL_SMALL + 1])))
        return NULL;
    if (!table->places) table->places = TRIAL_SMALL + 1;
    for (uint32_t i = 0; i < table->places; ++i) { /* left by a thread that has ended */
        table->place[i].started = 0;
        table->place[i].gap_left = 0;
    }
    table->is_used = 1;
    return table;
}

/* A signal handler may interrupt this and fork. If the child returns into it, both processes go on
 * in the same file. So both write the same place, and the same number of places. */
static struct trial_place *add_place(const char *caller, int function, uint8_t power)
{
    struct trial_thread *table = tried.table;
    const uint32_t number = table->places;
    if (number >= TRIAL_PLACES || !may_reserve()) return NULL;
    struct trial_place *place = &table->place[number];
    if (!reserve(offset_of(place), sizeof *place)) return NULL;
    learn_module(caller, clock_ns(CLOCK_MONOTONIC));
    trial.has_figures = 1;
    place->caller = (uintptr_t)caller;
    place->function = (uint8_t)function;
    place->power = power;
    uint8_t ways = 0;
    for (uint32_t i = 0; i < trial.ways[function]; ++i) {
        const uint8_t way = trial.numbers[function][i];
        if (trial.least[way] <= (uint64_t)1 << power) place->order[ways++] = way;
    }
    place->ways = place->racing = ways;
    place->turn = place->racing; /* its first call begins a cycle */
    place->gap = 1;
    __atomic_store_n(&table->places, number + 1, __ATOMIC_RELEASE);
    return place;
}

struct trial_place *find_place(const char *caller, int function, size_t bytes)
{
    struct trial_thread *table = tried.table;
    const uint8_t power = (uint8_t)(63 - __builtin_clzl(bytes));
    const uint64_t key = (uintptr_t)caller ^ (uint64_t)function << 48 ^ (uint64_t)power << 56;
    const uint64_t hash = key * 0x9e3779b97f4a7c15u >> 55;
    for (uint64_t probe = 0; probe < PROBES; ++probe) {
        uint16_t *bucket = &table->bucket[(hash + probe) % TRIAL_BUCKETS];
        struct trial_place *place = &table->place[*bucket];
        if (!*bucket) {
            place = add_place(caller, function, power);
            if (!place) break;
            *bucket = (uint16_t)(place - table->place);
            return place;
        }
        if (place->caller == (uintptr_t)caller && place->power == power &&
            place->function == function)
            return place;
    }
    if (may_reserve()) flag(TRIAL_PLACES_FULL);
    return &table->place[TRIAL_REST];
}

/* The slot for the next cycle's blocks, or NOWHERE. Once the room is full, the kept cycles are a
 * uniform choice of all (Vitter's algorithm R). */
static uint32_t slot_of_cycle(struct trial_place *place)
{
    const uint32_t each = TRIAL_PAGE_BLOCKS / place->ways;
    if (place->cycles >= (uint64_t)place->pages * each && place->pages < TRIAL_PLACE_PAGES) {
        const uint32_t page = take_page(TRIAL_OWN);
        if (page != NOWHERE) place->page[place->pages++] = (uint16_t)page;
    }
    const uint64_t room = (uint64_t)place->pages * each;
    const uint64_t number =
        place->cycles < room ? place->cycles : draw_below(&tried.random, place->cycles + 1);
    if (number >= room) return NOWHERE;
    return (uint32_t)(number / each * TRIAL_PAGE_BLOCKS + number % each * place->ways);
}

uint32_t gap_for(uint64_t ticks)
{
    const uint64_t gap = trial.shortest / (ticks + 1) + 1;
    return gap < TRIAL_GAP ? (uint32_t)gap : TRIAL_GAP;
}

/* A way leaves if it was plainly slower than libc in most of the last cycles. A slow way may throw
 * data out of the caches, which spoils the other ways' figures and costs the program time. */
static void drop_slow_ways(struct trial_place *place)
{
    const uint64_t libcs = place->ticks[TRIAL_LIBC];
    for (uint32_t i = place->racing; i-- > 0;) {
        const uint8_t way = place->order[i];
        const uint64_t own = place->ticks[way];
        place->ticks[way] = 0;
        if (way <= TRIAL_ROUTINE || !own || !libcs) continue;
        if (own * 8 > libcs * 9)
            ++place->slower[way];
        else if (place->slower[way] > NOT_SLOWER)
            --place->slower[way];
        if (place->slower[way] < SLOWER) continue;
        place->order[i] = place->order[--place->racing];
        place->order[place->racing] = way;
    }
}

/* The fewest ticks of a call, in 16ths, among libc, libc again and the routine; 0: not known. */
static uint64_t least_of(const struct trial_place *place)
{
    uint64_t least = 0;
    for (int way = TRIAL_LIBC; way <= TRIAL_ROUTINE; ++way) {
        const uint64_t own = place->ticks[way];
        if (own && (!least || own < least)) least = own;
    }
    return least;
}

void begin_cycle(struct trial_place *place)
{
    const uint64_t usual = least_of(place);
    if (usual) place->gap = gap_for(usual / 16);
    if (usual) place->usual = (uint32_t)(usual / 16);
    drop_slow_ways(place);
    for (uint32_t i = place->racing; i > 1; --i) {
        const uint32_t other = (uint32_t)draw_below(&tried.random, i);
        const uint8_t way = place->order[i - 1];
        place->order[i - 1] = place->order[other];
        place->order[other] = way;
    }
    place->at = slot_of_cycle(place);
    ++place->cycles;
    place->turn = 0;
}

void keep_own_block(struct trial_place *place)
{
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < place->own.kept; ++i) ticks += place->own.ticks[i];
    if (place->own.kept) ticks = ticks / place->own.kept * 16 / place->own.gap + 1;
    place->ticks[place->own.way] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    if (place->at == NOWHERE) return;
    const uint32_t page = place->page[place->at / TRIAL_PAGE_BLOCKS];
    trial_file()->block[page][place->at % TRIAL_PAGE_BLOCKS + place->turn] = place->own;
}

void keep_together_block(const struct trial_block *block)
{
    if (tried.at % TRIAL_PAGE_BLOCKS == 0) {
        const uint32_t page = take_page(TRIAL_TOGETHER);
        if (page == NOWHERE) return;
        tried.at = page * TRIAL_PAGE_BLOCKS;
    }
    (&trial_file()->block[0][0])[tried.at++] = *block;
}
