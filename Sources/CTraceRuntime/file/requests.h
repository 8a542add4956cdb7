// What the process asks the recorder for.

#ifndef FATHOM_REQUESTS_H
#define FATHOM_REQUESTS_H

#include "../host/runtime.h"

// Wakes the recorder, if it sleeps, to look at what there is.
void requests_wake(void);

// Asks the recorder to save what the ring holds. Async-signal-safe.
void requests_save(void);

// Tells the recorder of a call that has ended, and took long or, with `conditions`, fulfils these. Times are in ticks.
// Async-signal-safe.
SLOW void requests_tell(uint32_t thread, const struct fathom_long_call *call, uint32_t conditions);

// Whether a call that took this many ticks is one that the recorder wants to hear of.
INTERNAL int requests_wants(uint64_t ticks) {
    // Relaxed: the recorder may change the limit at any time, and a call around it may count or not.
    return ticks >= __atomic_load_n(&runtime.buffers->long_ticks, __ATOMIC_RELAXED);
}

#endif
