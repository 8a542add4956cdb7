// What the recorder is shown of a thread: where its open calls are (CTraceStack.h).

#ifndef FATHOM_SHOWN_H
#define FATHOM_SHOWN_H

#include "../follow/mode.h"

// ---- told of what is followed; the thread is busy

void shown_begin(struct thread *t, enum begins how);
void shown_end(struct thread *t, enum ends how, uint64_t now);
void shown_fork(struct thread *t);
void shown_lane(struct thread *t);  // another lane runs, or the frames have moved

#endif
