// The ring is all slots that were ever used, in their order; `ring_next` goes round. A thread that records little
// finishes its chunk long after it has taken the slot, so the order of slots is only nearly the order in which chunks
// ended. Looking at a few slots and taking the oldest keeps chunks that ended a moment ago.

#include "ring.h"

#include "../host/runtime.h"
#include "windows.h"

FATHOM_WITHOUT_HOOKS

#define CANDIDATES 8u  // slots to choose from
#define LOOKS 64u      // slots to look at until then, if there was one to choose
#define ATTEMPTS 64u   // to take the slot that was chosen, where others take it first

// The slot to take, with its word. runtime.slot_limit when there is none.
static uint32_t choose(uint32_t high, uint32_t *word) {
    uint32_t found = runtime.slot_limit, candidates = 0;
    uint64_t oldest = UINT64_MAX;
    // Relaxed: where threads begin to look decides nothing.
    uint32_t start = __atomic_fetch_add(&runtime.buffers->ring_next, 1, __ATOMIC_RELAXED);
    // Where most slots are being written, as with more threads than the ring has slots for, all of them are looked at.
    for (uint32_t step = 0; step < high && candidates < CANDIDATES && (step < LOOKS || !candidates); step++) {
        uint32_t slot = (start + step) % high, now = fathom_load32(&runtime.words[slot]);
        uint64_t end = 0;
        if (fathom_slot_state(now) == FATHOM_SLOT_FULL) {
            const struct fathom_chunk *chunk = windows_slot(slot);
            if (!chunk || chunk->kind != FATHOM_CHUNK_RECORDS) continue;
            end = chunk->end_ticks;
        } else if (now != FATHOM_SLOT_FREE) {
            continue;
        }
        candidates++;
        if (end >= oldest) continue;
        oldest = end;
        found = slot;
        *word = now;
    }
    return found;
}

uint32_t ring_take(uint32_t owned) {
    uint32_t high = fathom_load32(&runtime.buffers->slot_high);
    if (high > runtime.slot_limit) high = runtime.slot_limit;
    for (uint32_t attempt = 0; high > 0 && attempt < ATTEMPTS; attempt++) {
        uint32_t word = 0, slot = choose(high, &word);
        if (slot == runtime.slot_limit) break;
        // Somebody else may have taken it, and even finished another chunk there. Then that chunk is lost in place of
        // the oldest: it is one that the ring may lose.
        if (fathom_swap32(&runtime.words[slot], word, owned)) return slot;
    }
    return runtime.slot_limit;
}

FATHOM_WITHOUT_HOOKS_END
