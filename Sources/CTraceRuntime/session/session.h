// The buffers that the process shares with the recorder.

#ifndef FATHOM_SESSION_H
#define FATHOM_SESSION_H

#include "../host/base.h"

#define PATH_ROOM 8192u  // more than a chunk's header and path take

// `environment` is the process's, or NULL when nobody knows it yet.
int session_open(char **environment);
void session_close(void);  // takes all its mappings away; no other thread runs
// Takes a slot and populates its first *size bytes. That is the whole slot if it was populated lately, or if
// `wants_all` is set and the file system has room for it; otherwise it is `least`. NULL when there is no slot, or no
// room for `least`.
struct fathom_chunk *session_take_slot(size_t least, int wants_all, uint32_t *slot, size_t *size);
void session_forget_populated(void);  // for a fork's child, which has to populate slots for itself
// The recorder takes what is in the slot, or, where chunks make a ring, leaves it there.
void session_give_slot(uint32_t slot);
// The number of slots that have been used, and the chunk that this process is writing into one of them, or NULL.
uint32_t session_slots(void);
struct fathom_chunk *session_owned(uint32_t slot);
// Finishes and gives what a thread that is gone has left in its slots, by its number in the process.
void session_give_left(uint32_t thread);
// Nobody takes what is in the slot. Its chunk has been hidden.
void session_drop_slot(uint32_t slot);

// Hides a slot's old header from readers before the new one is written. What follows cannot pass this store; after a
// mere store with release it could.
INTERNAL void chunk_hide(struct fathom_chunk *chunk) {
    __atomic_store_n(&chunk->magic, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

#endif
