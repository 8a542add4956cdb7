// Calls that are open and fulfil conditions on their arguments, of which the recorder hears when they end.

#ifndef FATHOM_CONDITIONS_H
#define FATHOM_CONDITIONS_H

#include "../file/functions.h"
#include "../follow/thread.h"

// Notes the conditions, a bit for each, that a call fulfils, which has just begun.
void conditions_note(const struct thread *t, const struct frame *call, uint32_t conditions);

SLOW void conditions_tell(const struct thread *t, const struct frame *call, uint64_t now);

// Tells the recorder of a call that has ended `now`, if it fulfils conditions and took as long as they say.
INTERNAL void conditions_look(const struct thread *t, const struct frame *call, uint64_t now) {
    if (UNLIKELY(named_functions.says & FATHOM_SAYS_CONDITIONS)) conditions_tell(t, call, now);
}

#endif
