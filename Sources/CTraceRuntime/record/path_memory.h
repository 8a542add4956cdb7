// The memory of call paths. The thread is busy in all of this.

#ifndef FATHOM_PATH_MEMORY_H
#define FATHOM_PATH_MEMORY_H

#include "paths.h"

struct path_block {
    struct path_block *next;
    size_t size;
    char rest[48];
};
_Static_assert(sizeof(struct path_block) == sizeof(struct path), "what lies behind it is aligned");

// 64 bytes of the process's own, for as long as the tree is there. NULL when there is no memory.
void *path_take(struct path_arena *arena);
void path_free_blocks(struct path_block *block);  // and those before it

// Room for `count` units more, which readers do not see yet; NULL when there is none.
void *path_new_unit(struct thread *t, uint32_t count, uint32_t *number);
void path_publish(struct paths *p, uint32_t count);  // shows readers what path_new_unit gave out
// A unit of the shape of a path's; NULL when there is no room, or the session may have no more paths.
struct fathom_path *path_add_unit(struct thread *t, uint16_t unit, const struct path *path, uint32_t *number);
// Gives the chunks to the recorder. `flags` are FATHOM_FLAG_*; `now` is in ticks.
void path_give_chunks(struct thread *t, uint8_t flags, uint64_t now);
// Gives a fork's child a private copy of the chunk that holds a unit, or of all of them for NULL, for a hook that goes
// on there.
void path_shadow_chunks(struct thread *t, const void *unit);

#endif
