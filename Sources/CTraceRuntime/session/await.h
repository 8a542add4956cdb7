// What the process asks the recorder for, and how it awaits that.

#ifndef FATHOM_AWAIT_H
#define FATHOM_AWAIT_H

#include "../host/base.h"
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

// Waiting for the recorder to give a slot back.

// Waits for a free slot, a second at most, if the recorder gets too little of the processors or is late. Signal
// handlers may run meanwhile. The wait ends when `*events`, which they may raise, reaches `enough`.
void await_slot(const uint32_t *events, uint32_t enough);
// Finds out whether this process can see the recorder, so that it notices the recorder's end. Called while that runs.
void await_see_recorder(void);
void await_expect_recorder(void);  // says that the recorder, about to be woken, is not late

#endif
