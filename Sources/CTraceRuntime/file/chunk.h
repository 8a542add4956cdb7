// A thread's chunk.

#ifndef FATHOM_CHUNK_H
#define FATHOM_CHUNK_H

#include "../follow/thread.h"

#define LAST_LOOK (1u << 20)
#define PATH_LIMIT                                                                                                     \
    256u  // calls that a chunk's open call path lists: more would crowd out the records of deep recursion
#define RECORD_ROOM 128u  // more than the largest run of records written at once

// Those that have a record.
uint32_t recorded_calls(struct thread *t);

// `now` is in ticks.
void chunk_finish(struct thread *t, uint64_t now);
void chunk_give_back(struct thread *t);  // finishes the calling thread's, if it has one and is not in a hook
void chunk_lose_call(struct thread *t);  // counts a call that leaves no record
int chunk_make_room(struct thread *t);   // after cursor reached limit; 0 when records cannot be kept

#endif
