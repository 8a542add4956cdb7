// Windows on the session's buffers: runs of slots that are mapped at once.

#include "slots.h"
#include "../host/runtime.h"

#include <fcntl.h>

FATHOM_WITHOUT_HOOKS

static size_t window_size(void) { return (size_t)runtime.window_slots * runtime.slot_size; }

static uint64_t window_offset(uint32_t window) { return runtime.slots_offset + window * (uint64_t)window_size(); }

static char *map_window_of(long descriptor, uint32_t window) {
    return system_map_file(descriptor, window_offset(window), window_size());
}

// Maps what follows, in the file, the nearest window below that is mapped, or the head. This needs neither a descriptor
// nor a path, so a program may at any time change its user, its root directory or its limits, and close or replace
// whatever it has open. NULL when there is no address space.
static char *map_window_behind(uint32_t window) {
    char *end = (char *)runtime.buffers + runtime.slots_offset, *start = NULL;
    uint32_t next = window;
    // Acquire: see windows_slot.
    while (next > 0 && !(start = __atomic_load_n(&runtime.windows[next - 1], __ATOMIC_ACQUIRE))) next--;
    if (start) end = start + window_size();
    for (char *step = NULL;; step = start, end = start + window_size(), next++) {
        start = system_map_following(end, window_size());
        if (step) system_free(step, window_size());
        if (!start || next == window) return start;
    }
}

int windows_open(long descriptor) { return (runtime.windows[0] = map_window_of(descriptor, 0)) != NULL; }

void windows_close(void) {
    for (uint32_t window = 0; window < FATHOM_SLOT_LIMIT; window++)
        if (runtime.windows[window]) system_free(runtime.windows[window], window_size());
}

struct fathom_chunk *windows_slot(uint32_t slot) {
    uint32_t window = slot / runtime.window_slots;
    // Acquire: another thread may have mapped it a moment ago. The exchange with which it set the word releases that.
    char *start = __atomic_load_n(&runtime.windows[window], __ATOMIC_ACQUIRE);
    if (!start) {
        start = map_window_behind(window);
        if (!start) start = system_map_anew(runtime.path, runtime.inode, window_offset(window), window_size());
        if (!start) return NULL;
        char *none = NULL;
        if (!__atomic_compare_exchange_n(&runtime.windows[window], &none, start, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            system_free(start, window_size());
            start = none;
        }
    }
    return (struct fathom_chunk *)(start + (size_t)(slot % runtime.window_slots) * runtime.slot_size);
}

void windows_shadow_slot(uint32_t slot) {
    char *address = (char *)windows_slot(slot);
    if (!address || !system_shadow(address, runtime.slot_size)) return;
    runtime.windows[slot / runtime.window_slots] = NULL;  // mapped anew when a slot of it is needed
}

// The ring is all slots that were ever used. A thread takes the one whose chunk ended first; in rings of very many
// slots, the first of many. A list in that order would break when a process dies, and chunks' headers lie too far apart
// to look at many. So there is a word beside each slot that says when its chunk ended.

#define LOOKS 4096u   // slots to look at, and more as long as there is none to take
#define ATTEMPTS 64u  // to take the slot that was chosen, where others take it first

// The slot to take, with its word. runtime.slot_limit when there is none.
static uint32_t choose(uint32_t high, uint32_t *word) {
    uint32_t found = runtime.slot_limit, now = (uint32_t)(now_ticks() >> FATHOM_RING_END_SHIFT), oldest = 0;
    // Relaxed, here and below: where threads begin to look decides little, and who takes a slot looks again.
    uint32_t start = __atomic_fetch_add(&runtime.buffers->ring_next, 1, __ATOMIC_RELAXED) % high;
    for (uint32_t step = 0; step < high && (step < LOOKS || found == runtime.slot_limit); step++) {
        uint32_t slot = start + step < high ? start + step : start + step - high;
        uint32_t state = __atomic_load_n(&runtime.words[slot], __ATOMIC_RELAXED);
        if (state == FATHOM_SLOT_FREE) {
            *word = state;
            return slot;
        }
        uint32_t end = __atomic_load_n(&runtime.ring_ends[slot], __ATOMIC_RELAXED), age = now - end;
        if (fathom_slot_state(state) != FATHOM_SLOT_FULL || !end) continue;
        if (age > UINT32_MAX / 2) age = 0;  // processors' counters differ a little
        if (found != runtime.slot_limit && age <= oldest) continue;
        oldest = age;
        found = slot;
        *word = state;
    }
    return found;
}

void ring_give(uint32_t slot) {
    const struct fathom_chunk *chunk = windows_slot(slot);
    __atomic_store_n(&runtime.ring_ends[slot], chunk ? fathom_ring_end(chunk) : 0, __ATOMIC_RELAXED);
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
