// Waiting for the recorder to give a slot back.

#ifndef FATHOM_AWAIT_SLOT_H
#define FATHOM_AWAIT_SLOT_H

#include "../host/base.h"

// Waits for a free slot, a second at most, if the recorder gets too little of the processors or is late. Signal
// handlers may run meanwhile. The wait ends when `*events`, which they may raise, reaches `enough`.
void await_slot(const uint32_t *events, uint32_t enough);
// Finds out whether this process can see the recorder, so that it notices the recorder's end. Called while that runs.
void await_see_recorder(void);
void await_expect_recorder(void);  // says that the recorder, about to be woken, is not late

#endif
