#include "places.h"

#include "../host/runtime.h"
#include "../session/metadata.h"

FATHOM_WITHOUT_HOOKS

struct place places[PLACE_COUNT];

static const char never = 0;
const char *places_alone = &never;

static uint32_t are_shared;

// glibc's word says whether there is one thread, and changes before a second one begins (glibc 2.32 and later).
void places_begin(void) {
    if (fathom_image.is_alone && !are_shared) places_alone = fathom_image.is_alone;
}

// A thread that was made without glibc is known by its first call. At that moment, another one may be about to take the
// same place; both would have to be at it within a few instructions.
void places_share(void) {
    fathom_store32(&are_shared, 1);
    __atomic_store_n(&places_alone, &never, __ATOMIC_SEQ_CST);
}

// What places held before, by the place and the stack pointer: the newest of each set comes first. Two threads that
// write to one set at once may spoil an entry, which only a stack that was copied ever asks for.
#define FORMER_SETS 16384u
#define FORMER_WAYS 4u
static struct former {
    uintptr_t stack_pointer, return_address;
    const struct place *place;
} formers[FORMER_SETS][FORMER_WAYS];

static struct former *formers_of(const struct place *place, uintptr_t sp) {
    return formers[place_mix(sp >> 3, (uint64_t)(place - places)) % FORMER_SETS];
}

static void keep_former(const struct place *place) {
    struct former *ways = formers_of(place, place->stack_pointer);
    uint32_t way = 0;
    while (way < FORMER_WAYS - 1 && (ways[way].place != place || ways[way].stack_pointer != place->stack_pointer))
        way++;
    for (; way; way--) ways[way] = ways[way - 1];
    *ways = (struct former){place->stack_pointer, place->return_address, place};
}

#if defined(__x86_64__)
// What lies below the stack pointer on the first thread's stack is left for good, unless a coroutine runs on a part of
// that stack: then what the place held before is known. The kernel puts no other mapping within 128 MB of that stack's
// top (mmap_base).
static int is_dead(const struct place *place, uintptr_t sp) {
    uintptr_t top = runtime.stack_top;
    return place->stack_pointer < sp && sp < top && top - place->stack_pointer < (uintptr_t)64 << 20;
}

// Whether a call that is not told of any more may return to the place yet: its address is on the stack, or the true
// return address in its stead, which the place's first instruction leaves there.
static int is_awaited(const struct place *place, uintptr_t code) {
    const void *slot = (const void *)place->stack_pointer;
    uintptr_t own = code + (uintptr_t)(place - places) * PLACE_SIZE + PLACE_RETURN;
    return confine_unnoted() || system_holds(slot, (uint32_t)own) ||
           system_holds(slot, (uint32_t)place->return_address);
}
#else
// The return address may be anywhere.
static int is_dead(const struct place *place, uintptr_t sp) { return (void)place, (void)sp, 1; }
static int is_awaited(const struct place *place, uintptr_t code) { return (void)place, (void)code, 0; }
#endif

static void give_to(struct place *place, uintptr_t return_address, uintptr_t sp) {
    if (!place_is_its(place, return_address, sp)) {
        if (place->stack_pointer) keep_former(place);
        // Relaxed: others compare them with what theirs are, which these never are.
        __atomic_store_n(&place->return_address, return_address, __ATOMIC_RELAXED);
        __atomic_store_n(&place->stack_pointer, sp, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&place->open, 1, __ATOMIC_RELEASE);
}

// Takes a place of which no call is open. Others may try at the same time.
static int take(struct place *place, uintptr_t return_address, uintptr_t sp) {
    if (!place_claim(place, 0)) return 0;
    give_to(place, return_address, sp);
    return 1;
}

// Takes a place that jumps seem to have left, unless somebody may come back there.
static int take_left(struct place *place, uint32_t open, uintptr_t return_address, uintptr_t sp, uintptr_t code,
                     int looks) {
    if (open == PLACE_TAKEN || !(open & PLACE_LEFT)) return 0;
    if ((!looks && !is_dead(place, sp)) || !place_claim(place, open)) return 0;
    // It may be another's by now.
    if (!is_dead(place, sp) && (!looks || is_awaited(place, code))) {
        __atomic_store_n(&place->open, open, __ATOMIC_RELEASE);
        return 0;
    }
    give_to(place, return_address, sp);
    return 1;
}

static struct place *find(uintptr_t return_address, uintptr_t sp) {
    for (uint32_t set = 0; set < PLACE_SETS; set++)
        for (struct place *ways = place_ways(return_address, sp, set), *place = ways; place < ways + PLACE_WAYS;
             place++)
            // One that is being given away may stay so: a handler of a signal has left it by a jump.
            if (place_is_its(place, return_address, sp) &&
                __atomic_load_n(&place->open, __ATOMIC_RELAXED) != PLACE_TAKEN)
                return place;
    return NULL;
}

// How many more calls of each set do not look again whether what jumps seem to have left is awaited: that takes two
// system calls for each place, and what is on a stack that nobody uses stays. Any value will do.
static uint8_t patience[PLACE_COUNT / PLACE_WAYS];

static SLOW struct place *take_another(uintptr_t return_address, uintptr_t sp, uintptr_t code) {
    // One that never was anybody's is best, and one of another place on the stack better than one of the same, so that
    // what it held can be told from what it holds.
    // By turns, so that what a place held before is not forgotten at once. Any value will do.
    static uint32_t turns;
    uint32_t turn = __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
    uint8_t *waits = &patience[(place_ways(return_address, sp, 0) - places) / PLACE_WAYS];
    int looks = !*waits;
    if (!looks) --*waits;
    for (int choice = 0; choice < 4; choice++)
        for (uint32_t set = 0; set < PLACE_SETS; set++)
            for (uint32_t way = 0; way < PLACE_WAYS; way++) {
                struct place *at = &place_ways(return_address, sp, set)[(way + turn) % PLACE_WAYS];
                uintptr_t held = __atomic_load_n(&at->stack_pointer, __ATOMIC_RELAXED);
                if (choice == 0 ? held : choice == 1 && held == sp) continue;
                // Relaxed: taking it acquires.
                uint32_t open = __atomic_load_n(&at->open, __ATOMIC_RELAXED);
                if (choice == 3 ? take_left(at, open, return_address, sp, code, looks)
                                : !open && take(at, return_address, sp))
                    return at;
            }
    if (looks) *waits = UINT8_MAX;
    return NULL;
}

struct place *place_take(uintptr_t return_address, uintptr_t sp, uintptr_t code) {
    struct place *place = find(return_address, sp);
    if (LIKELY(place != NULL)) {
        // Acquire: where calls are open, what was compared is not being changed.
        uint32_t open = __atomic_load_n(&place->open, __ATOMIC_ACQUIRE);
        if (!open && take(place, return_address, sp)) return place;
        // A call of this very stack that never returned. Where a jump seems to have left it, this one takes its place;
        // another thread may be about to give that away. Otherwise, nobody but the stack's thread changes it.
        uint32_t more = open & PLACE_LEFT ? open & ~PLACE_LEFT : open + 1;
        if (open && open != PLACE_TAKEN && place_is_its(place, return_address, sp) &&
            __atomic_compare_exchange_n(&place->open, &open, more, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return place;
    }
    return take_another(return_address, sp, code);
}

void place_abandon(uintptr_t return_address, uintptr_t sp) {
    struct place *place = find(return_address, sp);
    // Relaxed: whoever takes the place then looks at the stack itself.
    uint32_t open = place ? __atomic_load_n(&place->open, __ATOMIC_RELAXED) : 0;
    if (open && open != PLACE_TAKEN)
        __atomic_compare_exchange_n(&place->open, &open, open | PLACE_LEFT, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

uintptr_t place_give(struct place *place, uintptr_t sp) {
    uintptr_t return_address = place->return_address;
    if (LIKELY(place_is_of(place, sp))) {
        place_close(place);
        return return_address;
    }
    const struct former *former = formers_of(place, sp);
    for (const struct former *end = former + FORMER_WAYS; former < end; former++)
        if (former->place == place && former->stack_pointer == sp) return former->return_address;
    return return_address;
}

FATHOM_WITHOUT_HOOKS_END
