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

#endif
