// Arguments and results of calls.

#ifndef FATHOM_ARGUMENTS_H
#define FATHOM_ARGUMENTS_H

#include "../follow/event.h"
#include "../follow/thread.h"
#include "../session/functions.h"

// Writes the arguments of the call that has just got its record, the last one in the chunk. There is room for
// FATHOM_ARGUMENTS_LIMIT bytes behind it, or nothing is written; nor is anything where nothing is known of the
// arguments, or of the registers. Returns the conditions that they fulfil, a bit for each.
uint32_t arguments_put(struct thread *t, const struct event *enter);
// Writes what the innermost call's function, which is about to end by a sled, returns, on the same terms.
void arguments_put_result(struct thread *t, uintptr_t function, const struct event *exit);

// Calls that are open and fulfil conditions on their arguments, of which the recorder hears when they end.

// Notes the conditions, a bit for each, that a call fulfils, which has just begun.
void conditions_note(const struct thread *t, const struct frame *call, uint32_t conditions);

SLOW void conditions_tell(const struct thread *t, const struct frame *call, uint64_t now);

// Tells the recorder of a call that has ended `now`, if it fulfils conditions and took as long as they say.
INTERNAL void conditions_look(const struct thread *t, const struct frame *call, uint64_t now) {
    if (UNLIKELY(named_functions.says & FATHOM_SAYS_CONDITIONS)) conditions_tell(t, call, now);
}

#endif
