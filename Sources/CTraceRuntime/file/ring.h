// A ring of slots: where recording goes on without end, the oldest chunks make room for new ones.

#ifndef FATHOM_RING_H
#define FATHOM_RING_H

#include "../host/base.h"

// Takes the slot of the oldest chunk of records of the ring, or a free one, for a process
// whose word for its own slots is `owned`. Returns the slot, or runtime.slot_limit when each of them is being written
// or holds metadata. Async-signal-safe.
uint32_t ring_take(uint32_t owned);

// The process has finished the chunk in the slot, and is about to say so. Async-signal-safe.
void ring_give(uint32_t slot);

#endif
