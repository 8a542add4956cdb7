// Time in which a thread had no CPU although no call is known that waits, where nobody else tells of that.

#ifndef FATHOM_AWAY_H
#define FATHOM_AWAY_H

#include "../follow/thread.h"
#include "../host/runtime.h"
#include "chunk.h"

// Whether the runtime tells itself when threads have no CPU.
INTERNAL int away_is_asked_for(void) { return runtime.head.tells & FATHOM_TELLS_AWAY; }

// How long the thread was away between its last record and `now`, in ns: 0 where that is not known, or not long. Looks
// at the thread's processor time if there was no record for long, or if it was not looked at lately.
uint64_t away_look(struct thread *t, uint64_t now);
// Looks at the thread's processor time: what it was away until now, others have told.
void away_begin(struct thread *t);
// Writes into the headers of other threads' chunks for how long these threads have been away until now, because no
// record of theirs will tell that. Makes system calls; signals may come.
void away_look_at_others(void);

// Whoever looks at the thread from outside finds in its chunk's header when it looked itself.
INTERNAL void away_publish(struct writer *w) {
    if (w->chunk) fathom_chunk_looked(w->chunk, w->away.ticks, w->away.processor_ns);
}
// Nothing is known of the time until now: the thread begins, or is another one.
INTERNAL void away_forget(struct writer *w) {
    w->away.ticks = 0;
    away_publish(w);
}

#endif
