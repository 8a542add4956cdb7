// Adds calls to their paths. The thread is busy in all of this.

#ifndef FATHOM_PATH_SUMS_H
#define FATHOM_PATH_SUMS_H

#include "paths.h"

// Takes the place of the call that ended last, where there is none.
extern struct path path_none_ended __attribute__((visibility("hidden")));
// Counts the duration of the call that ended last, if that has been left to the next exit.
void path_count_ended(struct thread *t);

#endif
