// Where slots of the session's buffers are mapped. All of it is async-signal-safe.

#ifndef FATHOM_WINDOWS_H
#define FATHOM_WINDOWS_H

#include "../host/base.h"

// Maps the first window of the file. 0 when there is no address space.
int windows_open(long descriptor);
void windows_close(void);  // no other thread runs
// Where a slot is, NULL when there is no address space.
struct fathom_chunk *windows_slot(uint32_t slot);
// Gives a fork's child a private copy of the slot, for a hook that was writing into the slot when its handler forked.
void windows_shadow_slot(uint32_t slot);

#endif
