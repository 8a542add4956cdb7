// A thread's chunk.

#ifndef FATHOM_CHUNK_H
#define FATHOM_CHUNK_H

#include "../follow/thread.h"

#define FIRST_LOOK 8u
#define LAST_LOOK (1u << 20)
#define PATH_LIMIT                                                                                                     \
    256u  // calls that a chunk's open call path lists: more would crowd out the records of deep recursion
#define RECORD_ROOM 128u  // more than the largest run of records written at once: two of FATHOM_RECORD_LIMIT bytes

// The number of open calls that have a record.
uint32_t recorded_calls(struct thread *t);

// Publishes all that is in the chunk. From here on, none of it is taken back.
void chunk_publish(struct thread *t);
// Finishes the chunk, if there is one. `now` is in ticks.
void chunk_finish(struct thread *t, uint64_t now);
void chunk_lose_call(struct thread *t);  // counts a call that leaves no record
int chunk_make_room(struct thread *t);   // after cursor reached limit; 0 when records cannot be kept
void chunk_look_at_modules(struct thread *t, int is_recording);  // from the next record on; signal handlers may call it
#ifdef FATHOM_VALID
int chunk_is_valid(const struct thread *t);  // whether the next record would go where it should
#endif
// Called in a fork's child, where the chunk is the parent's. For a hook that was writing into the chunk when the
// handler forked, it becomes a private copy.
void chunk_forget(struct thread *t);

#endif
