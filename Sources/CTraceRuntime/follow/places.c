#include "places.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

#define WAYS 4u  // places that a pair of addresses may have, in each of two sets of them

struct place places[PLACE_COUNT];

static uint32_t first_way(uintptr_t return_address, uintptr_t sp) {
    uint64_t mixed = (sp >> 3) * 0x9e3779b97f4a7c15ull ^ return_address * 0xc2b2ae3d27d4eb4full;
    return (uint32_t)(mixed * 0x9e3779b97f4a7c15ull >> 40) % (PLACE_COUNT / WAYS) * WAYS;
}

// Takes a place of which no call is open. Others may try at the same time.
static int take(struct place *place, uintptr_t return_address, uintptr_t sp) {
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&place->open, &none, PLACE_TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
    // Relaxed: others compare them with what theirs are, which these never are.
    __atomic_store_n(&place->return_address, return_address, __ATOMIC_RELAXED);
    __atomic_store_n(&place->stack_pointer, sp, __ATOMIC_RELAXED);
    __atomic_store_n(&place->open, 1, __ATOMIC_RELEASE);
    return 1;
}

static int is_its(const struct place *place, uintptr_t return_address, uintptr_t sp) {
    return __atomic_load_n(&place->stack_pointer, __ATOMIC_RELAXED) == sp &&
           __atomic_load_n(&place->return_address, __ATOMIC_RELAXED) == return_address;
}

struct place *place_take(uintptr_t return_address, uintptr_t sp) {
    uint32_t first = first_way(return_address, sp);
    for (uint32_t set = 0; set < 2; set++) {
        struct place *ways = &places[(first + set * WAYS) % PLACE_COUNT];
        for (struct place *place = ways; place < ways + WAYS; place++) {
            if (!is_its(place, return_address, sp)) continue;
            // Acquire: where calls are open, what was compared is not being changed.
            uint32_t open = __atomic_load_n(&place->open, __ATOMIC_ACQUIRE);
            if (open && open != PLACE_TAKEN && is_its(place, return_address, sp)) {
                // Relaxed: a call that never returned, of this very stack, and nobody but its thread changes it.
                __atomic_store_n(&place->open, open + 1, __ATOMIC_RELAXED);
                return place;
            }
            if (!open && take(place, return_address, sp)) return place;
        }
    }
    for (uint32_t set = 0; set < 2; set++) {
        struct place *ways = &places[(first + set * WAYS) % PLACE_COUNT];
        for (struct place *place = ways; place < ways + WAYS; place++)
            if (!__atomic_load_n(&place->open, __ATOMIC_RELAXED) && take(place, return_address, sp)) return place;
    }
    return NULL;
}

FATHOM_WITHOUT_HOOKS_END

#endif
