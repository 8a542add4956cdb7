#include "places.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

#define WAYS 4u  // places that a pair of addresses may have, in each of two sets of them
#define SETS 2u

struct place places[PLACE_COUNT];

// What places held before, by the place and the stack pointer: the newest of each set comes first. Two threads that
// write to one set at once may spoil an entry, which only a stack that was copied ever asks for.
#define FORMER_SETS 16384u
#define FORMER_WAYS 4u
static struct former {
    uintptr_t stack_pointer, return_address;
    const struct place *place;
} formers[FORMER_SETS][FORMER_WAYS];

static uint64_t mix(uint64_t one, uint64_t other) {
    return (one * 0x9e3779b97f4a7c15ull ^ other * 0xc2b2ae3d27d4eb4full) * 0x9e3779b97f4a7c15ull >> 40;
}

static struct former *formers_of(const struct place *place, uintptr_t sp) {
    return formers[mix(sp >> 3, (uint64_t)(place - places)) % FORMER_SETS];
}

static void keep_former(const struct place *place) {
    struct former *ways = formers_of(place, place->stack_pointer);
    uint32_t way = 0;
    while (way < FORMER_WAYS - 1 && (ways[way].place != place || ways[way].stack_pointer != place->stack_pointer))
        way++;
    for (; way; way--) ways[way] = ways[way - 1];
    *ways = (struct former){place->stack_pointer, place->return_address, place};
}

static struct place *ways_of(uintptr_t return_address, uintptr_t sp, uint32_t set) {
    uint32_t first = (uint32_t)mix(sp >> 3, return_address) % (PLACE_COUNT / WAYS);
    return &places[(first + set) % (PLACE_COUNT / WAYS) * WAYS];
}

static int is_its(const struct place *place, uintptr_t return_address, uintptr_t sp) {
    return __atomic_load_n(&place->stack_pointer, __ATOMIC_RELAXED) == sp &&
           __atomic_load_n(&place->return_address, __ATOMIC_RELAXED) == return_address;
}

// Takes a place of which no call is open. Others may try at the same time.
static int take(struct place *place, uintptr_t return_address, uintptr_t sp) {
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&place->open, &none, PLACE_TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
    if (!is_its(place, return_address, sp)) {
        if (place->stack_pointer) keep_former(place);
        // Relaxed: others compare them with what theirs are, which these never are.
        __atomic_store_n(&place->return_address, return_address, __ATOMIC_RELAXED);
        __atomic_store_n(&place->stack_pointer, sp, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&place->open, 1, __ATOMIC_RELEASE);
    return 1;
}

static struct place *find(uintptr_t return_address, uintptr_t sp) {
    for (uint32_t set = 0; set < SETS; set++)
        for (struct place *ways = ways_of(return_address, sp, set), *place = ways; place < ways + WAYS; place++)
            // One that is being given away may stay so: a handler of a signal has left it by a jump.
            if (is_its(place, return_address, sp) && __atomic_load_n(&place->open, __ATOMIC_RELAXED) != PLACE_TAKEN)
                return place;
    return NULL;
}

struct place *place_take(uintptr_t return_address, uintptr_t sp) {
    struct place *place = find(return_address, sp);
    if (LIKELY(place != NULL)) {
        // Acquire: where calls are open, what was compared is not being changed.
        uint32_t open = __atomic_load_n(&place->open, __ATOMIC_ACQUIRE);
        if (!open && take(place, return_address, sp)) return place;
        if (open && open != PLACE_TAKEN && is_its(place, return_address, sp)) {
            // Relaxed: a call of this very stack that never returned, and nobody but its thread changes it.
            __atomic_store_n(&place->open, open + 1, __ATOMIC_RELAXED);
            return place;
        }
    }
    // One that never was anybody's is best, and one of another place on the stack better than one of the same, so that
    // what it held can be told from what it holds.
    // By turns, so that what a place held before is not forgotten at once. Any value will do.
    static uint32_t turns;
    uint32_t turn = __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
    for (int choice = 0; choice < 3; choice++)
        for (uint32_t set = 0; set < SETS; set++)
            for (uint32_t way = 0; way < WAYS; way++) {
                struct place *at = &ways_of(return_address, sp, set)[(way + turn) % WAYS];
                uintptr_t held = __atomic_load_n(&at->stack_pointer, __ATOMIC_RELAXED);
                if (choice == 0 ? held : choice == 1 && held == sp) continue;
                // Relaxed: taking it acquires.
                if (!__atomic_load_n(&at->open, __ATOMIC_RELAXED) && take(at, return_address, sp)) return at;
            }
    return NULL;
}

// Release: whoever takes the place next finds that nobody needs it.
static void close_one(struct place *place) {
    // Relaxed: only whoever runs on that stack changes it while it is not 0.
    uint32_t open = __atomic_load_n(&place->open, __ATOMIC_RELAXED);
    if (open && open != PLACE_TAKEN) __atomic_store_n(&place->open, open - 1, __ATOMIC_RELEASE);
}

void place_abandon(uintptr_t return_address, uintptr_t sp) {
    struct place *place = find(return_address, sp);
    if (place) close_one(place);
}

uintptr_t place_give(struct place *place, uintptr_t sp) {
    uintptr_t return_address = place->return_address;
    if (LIKELY(place_is_of(place, sp))) {
        close_one(place);
        return return_address;
    }
    const struct former *former = formers_of(place, sp);
    for (const struct former *end = former + FORMER_WAYS; former < end; former++)
        if (former->place == place && former->stack_pointer == sp) return former->return_address;
    return return_address;
}

FATHOM_WITHOUT_HOOKS_END

#endif
