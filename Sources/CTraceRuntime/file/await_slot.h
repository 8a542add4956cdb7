// Waiting for the recorder to give a slot back.

#ifndef FATHOM_AWAIT_SLOT_H
#define FATHOM_AWAIT_SLOT_H

// Waits for a free slot, a second at most, if the recorder gets too little of the processors or is late.
void await_slot(void);
void await_expect_recorder(void);  // says that the recorder, about to be woken, is not late

#endif
