// Arguments of calls.

#ifndef FATHOM_ARGUMENTS_H
#define FATHOM_ARGUMENTS_H

#include "../follow/event.h"
#include "../follow/thread.h"

// Writes the arguments of the call that has just got its record, the last one in the chunk. There is room for
// FATHOM_ARGUMENTS_LIMIT bytes behind it, or nothing is written; nor is anything where nothing is known of the
// arguments, or of the registers.
void arguments_put(struct thread *t, const struct event *enter);

#endif
