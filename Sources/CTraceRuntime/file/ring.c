// The ring is all slots that were ever used, in their order; `ring_next` goes round. A thread that records little
// finishes its chunk long after it has taken the slot, so the order of slots is only nearly the order in which chunks
// ended. Looking at a few slots and taking the oldest keeps chunks that ended a moment ago.

#include "ring.h"

#include "../host/runtime.h"
#include "windows.h"

FATHOM_WITHOUT_HOOKS

#define CANDIDATES 8u  // slots to choose from
#define LOOKS 64u      // slots to look at until then

uint32_t ring_take(uint32_t owned) {
    struct fathom_buffers *buffers = runtime.buffers;
    uint32_t high = fathom_load32(&buffers->slot_high), found = runtime.slot_limit, candidates = 0, word = 0;
    if (high > runtime.slot_limit) high = runtime.slot_limit;
    if (high == 0) return runtime.slot_limit;
    uint64_t oldest = UINT64_MAX;
    // Relaxed: where threads begin to look decides nothing.
    uint32_t start = __atomic_fetch_add(&buffers->ring_next, 1, __ATOMIC_RELAXED);
    for (uint32_t step = 0; step < high && step < LOOKS && candidates < CANDIDATES; step++) {
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
        word = now;
    }
    // Somebody else may have taken it, and even finished another chunk there. Then that chunk is lost in place of the
    // oldest: it is one that the ring may lose.
    if (found < runtime.slot_limit && !fathom_swap32(&runtime.words[found], word, owned)) return ring_take(owned);
    return found;
}

FATHOM_WITHOUT_HOOKS_END
