// Where slots of the session's buffers are mapped. All of it is async-signal-safe.

#ifndef FATHOM_SLOTS_H
#define FATHOM_SLOTS_H

#include "../host/base.h"

// Maps the first window of the file. 0 when there is no address space.
int windows_open(long descriptor);
void windows_close(void);  // no other thread runs
// Where a slot is, NULL when there is no address space.
struct fathom_chunk *windows_slot(uint32_t slot);
// Gives a fork's child a private copy of the slot, for a hook that was writing into the slot when its handler forked.
void windows_shadow_slot(uint32_t slot);

// A ring of slots: where recording goes on without end, the oldest chunks make room for new ones.

// Takes the slot of the oldest chunk of records of the ring, or a free one, for a process
// whose word for its own slots is `owned`. Returns the slot, or runtime.slot_limit when each of them is being written
// or holds metadata. Async-signal-safe.
uint32_t ring_take(uint32_t owned);

// The process has finished the chunk in the slot, and is about to say so. Async-signal-safe.
void ring_give(uint32_t slot);

#endif
