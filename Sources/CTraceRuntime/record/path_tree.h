// Makes call paths, for what adds calls to them. The thread is busy in all of this.

#ifndef FATHOM_PATH_TREE_H
#define FATHOM_PATH_TREE_H

#include "paths.h"

// A path without a unit, which cannot be found yet; NULL when there is no memory.
struct path *path_new(struct paths *p, struct path *caller, uintptr_t function);
// A callee of the path that is no call; NULL when there is no room. `function` and `unit` say which.
struct path *path_special(struct thread *t, struct path *caller, uintptr_t function, uint16_t unit);
// The callee's path, found or made. Where nothing can be kept of it, `no_path`.
struct path *path_callee(struct thread *t, struct path *caller, uintptr_t function);
// The path's call that is open has begun at `since`, in ticks, before it was recorded.
void path_open_inherited(struct path *path, uint64_t since);
void path_free_tables(struct path_table *table);  // and those that it has outgrown

// Adds calls to their paths. The thread is busy in all of this.

// Takes the place of the call that ended last, where there is none.
extern struct path path_none_ended __attribute__((visibility("hidden")));
// Counts the duration of the call that ended last, if that has been left to the next exit.
void path_count_ended(struct thread *t);

// The memory of call paths. The thread is busy in all of this.

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
