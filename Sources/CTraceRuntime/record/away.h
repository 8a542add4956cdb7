// Time in which the thread had no CPU although no call is known that waits, where nobody else tells of that.

#ifndef FATHOM_AWAY_H
#define FATHOM_AWAY_H

#include "../host/runtime.h"
#include "chunk.h"

// Whether the runtime tells of waits itself, with the processor time in them.
INTERNAL int away_is_asked_for(void) {
    return (runtime.head.tells_waits & FATHOM_TELLS_WAITS_MASK) == FATHOM_TELLS_WAIT_TIMES;
}

// How long the thread was away between its last record and `now`, in ns: 0 where that is not known, or not long. Looks
// at the thread's processor time if there was no record for long, or if it was not looked at lately.
uint64_t away_look(struct thread *t, uint64_t now);
// Looks at the thread's processor time: what it was away until now, others have told.
void away_begin(struct thread *t);
// Nothing is known of the time until now: the thread begins, or is another one.
INTERNAL void away_forget(struct writer *w) { w->away.ticks = 0; }

#endif
