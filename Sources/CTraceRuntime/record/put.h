// Appends records to the thread's chunk. There must be room, and readers see the records when they are published.

#ifndef FATHOM_PUT_H
#define FATHOM_PUT_H

#include "../follow/thread.h"
#include "../host/runtime.h"
#include "chunk.h"

// Whether a record can be written. Moves *now past the time that a change of chunks took. Tells for how long the thread
// was away before that, if that has to be told.
int put_room(struct thread *t, uint64_t *now);
// Whether there is room for `size` bytes, at most FATHOM_ARGUMENTS_LIMIT, and a record.
int put_more_room(struct thread *t, size_t size, uint64_t *now);
// Whether, where there is room for the record of a call that begins, there is room for `size` bytes more, at most
// FATHOM_ARGUMENTS_LIMIT. If not, the call is counted as lost.
int put_room_for(struct thread *t, size_t size, uint64_t *now);
// Writes the record of a call of the running lane, none of whose callees has a record yet.
void put_enter(struct thread *t, const struct frame *call, uint64_t now);
void put_exit(struct thread *t, uint64_t now);  // of the call that was the innermost one
void put_unwind(struct thread *t, uint32_t count, uint64_t now);
void put_lane(struct thread *t);  // the running one
void put_told(struct thread *t, const struct told *told, uint64_t now);
void put_task(struct thread *t, const struct fathom_task *task);  // whose piece the next call is

#endif
