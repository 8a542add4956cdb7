// What becomes of call paths while a thread lives, and when its calls are not followed in the ordinary way.

#include "paths.h"

#include "../host/runtime.h"
#include "../session/modules.h"
#include "chunk.h"
#include "path_tree.h"

FATHOM_WITHOUT_HOOKS

#define MARKED 0x8000u  // in `callees`, while calls are gone through

// ---- threads

// Those that have paths.
static struct { struct paths *first; } threads;

static void join_threads(struct thread *t) {
    struct paths *p = paths_of(t);
    // One whose end nobody tells would be in the list when it is gone.
    if (p->is_known || t->untold) return;
    uint64_t signals = lock_take(LOCK_PATHS);
    p->is_known = 1;
    p->next = threads.first;
    threads.first = p;
    lock_give(LOCK_PATHS, signals);
}

// Frees the thread's paths, which no thread looks at any more.
static void leave_threads(struct paths *p) {
    uint64_t signals = lock_take(LOCK_PATHS);
    struct paths **link = &threads.first;
    while (*link && *link != p) link = &(*link)->next;
    if (*link) *link = p->next;
    path_free_blocks(p->paths.blocks);
    path_free_blocks(p->retired);
    lock_give(LOCK_PATHS, signals);
    path_free_tables(p->table);
    path_free_tables(p->retired_tables);
}

void paths_forget_unloaded(void) {
    uint64_t signals = lock_take(LOCK_PATHS);
    for (struct paths *p = threads.first; p; p = p->next) {
        // Acquire: its thread may have made the block a moment ago.
        for (struct path_block *block = __atomic_load_n(&p->paths.blocks, __ATOMIC_ACQUIRE); block;
             block = block->next) {
            struct path *end = (struct path *)((char *)block + block->size);
            for (struct path *path = (struct path *)(block + 1); path < end; path++) {
                uintptr_t function = path->function;
                if (function <= INHERITED_FUNCTION || function >= FATHOM_SCOPE_BASE || modules_hold(&function, 1))
                    continue;
                // Relaxed: nobody calls the function, and its thread looks for others.
                __atomic_store_n(&path->function, NO_FUNCTION, __ATOMIC_RELAXED);
            }
        }
    }
    lock_give(LOCK_PATHS, signals);
}

// ---- beginnings and ends

static int has_unit(const struct path *path) { return path->number != FATHOM_NO_PATH; }

static void mark_roots(struct thread *t, int are_marked) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct path *root = lane->frames->path;
        if (!root || root == &no_path) continue;
        root->callees = (uint16_t)(are_marked ? root->callees | MARKED : root->callees & ~MARKED);
    }
}

// A root that no lane has; NULL: there is none. O(lanes).
static struct path *unused_root(struct thread *t) {
    struct paths *p = paths_of(t);
    struct path *root = p->roots, *found = NULL;
    if (p->root_count < t->lane_count) return NULL;  // each has one, but for the lane that needs one
    mark_roots(t, 1);
    for (uint32_t i = 0; i < p->root_count && !found; i++, root = root->next)
        if (!(root->callees & MARKED)) found = root;
    mark_roots(t, 0);
    return found;
}

static struct path *find_root(struct thread *t) {
    struct paths *p = paths_of(t);
    struct path *root = unused_root(t);
    if (root) return root;
    root = path_new(p, &no_path, NO_FUNCTION);
    if (!root) return &no_path;
    if (p->roots) {
        root->next = p->roots->next;
        p->roots->next = root;
    }
    p->roots = root;
    p->root_count++;
    return root;
}

void paths_lane(struct thread *t) {
    struct lane *lane = running_lane(t);
    if (!lane->frames->path) lane->frames->path = find_root(t);
}

// Gives all open calls their paths anew.
static void adopt(struct thread *t, int are_inherited) {
    int opens = are_inherited && runtime.options.keeps == FATHOM_KEEPS_TIMES;
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        if (!lane->frames->path) lane->frames->path = find_root(t);
        lane->is_stale = 0;
        for (struct frame *f = lane->frames + 1; f <= top_of(t, lane); f++) {
            uint64_t since = f->enter;
            f->path = path_callee(t, f[-1].path, f->function);
            if (opens && has_unit(f->path) && f->path->function != FOLDED_FUNCTION) path_open_inherited(f->path, since);
        }
    }
}

// Whether it can be said of a path that one of its calls is open.
static int opens(const struct path *path) {
    return has_unit(path) && path->function != FOLDED_FUNCTION && path->function != INHERITED_FUNCTION;
}

// A handler jumped out of a slow path, or of a hook that was busy: a call may be open that the paths were not told of,
// or have ended likewise.
static void mend(struct thread *t, uint64_t now) {
    uint64_t signals = system_block_signals();
    adopt(t, 0);
    if (runtime.options.keeps == FATHOM_KEEPS_TIMES) {
        for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
            for (struct frame *f = lane->frames + 1; f <= top_of(t, lane); f++) {
                if (!opens(f->path)) continue;
                if (!(f->path->sums->moment & FATHOM_PATH_OPEN)) path_open(f->path, now);
                f->path->callees |= MARKED;
            }
        }
        for (struct path_block *block = paths_of(t)->paths.blocks; block; block = block->next) {
            char *end = block == paths_of(t)->paths.blocks ? paths_of(t)->paths.free : (char *)block + block->size;
            for (struct path *path = (struct path *)(block + 1); (char *)path < end; path++) {
                int is_open = path->callees & MARKED;
                path->callees = (uint16_t)(path->callees & ~MARKED);
                if (!is_open && opens(path)) paths_close(t, path, now);
            }
        }
    }
    system_restore_signals(signals);
}

static void close_all(struct thread *t, uint64_t now) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++)
        for (struct frame *f = top_of(t, lane); f > lane->frames; f--) paths_close(t, f->path, now);
}

// Forgets all paths, so that new ones can be made. Their memory stays where it is.
static void reset(struct thread *t) {
    struct paths *p = paths_of(t);
    *p = (struct paths){
        .ended = &path_none_ended,
        .sequence = p->sequence,
        .tree = p->tree,
        .retired = p->retired,
        .retired_tables = p->retired_tables,
        .next = p->next,
        .is_known = p->is_known,
    };
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) lane->frames->path = NULL;
}

// The process may be about to end, or go on. Open calls go on without units, until they call something. The old paths
// stay where they are, because a handler may have interrupted a hook that is looking at them.
static void begin_again(struct thread *t, uint64_t now) {
    struct paths *p = paths_of(t);
    struct path_block **block = &p->retired;
    while (*block) block = &(*block)->next;
    *block = p->paths.blocks;
    struct path_table **table = &p->retired_tables;
    while (*table) table = &(*table)->outgrown;
    *table = p->table;
    path_free_blocks(p->others.blocks);
    reset(t);
    p->tree++;
    p->since = now;
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        lane->frames->path = find_root(t);
        for (struct frame *f = lane->frames + 1; f <= top_of(t, lane); f++) {
            struct path *path = path_new(p, f[-1].path, f->function);
            f->path = path ? path : &no_path;
        }
    }
}

void paths_begin(struct thread *t, enum begins how) {
    struct paths *p = paths_of(t);
    switch (how) {
    case BEGINS_THREAD:
    case BEGINS_IN_CHILD:
        // What a fork's child has of its parent's paths stays in memory: the hook that was interrupted for the fork may
        // go on with it.
        p->sequence = p->tree = 0;
        p->retired = NULL;
        p->retired_tables = NULL;
        // fall through
    case BEGINS_AGAIN:
        reset(t);
        join_threads(t);
        break;
    case BEGINS_RUNNING: break;
    }
    adopt(t, 1);
}

void paths_end(struct thread *t, enum ends how, uint64_t now) {
    struct paths *p = paths_of(t);
    path_count_ended(t);
    switch (how) {
    case ENDS_FOR_NOW: break;  // everything is in the buffers already
    case ENDS_ABANDONED: mend(t, now_ticks()); break;
    case ENDS_STOPPED:
        if (runtime.options.keeps == FATHOM_KEEPS_TIMES) close_all(t, now);
        break;
    case ENDS_THREAD:
    case ENDS_DETACHED:
        path_give_chunks(t, how == ENDS_THREAD ? FATHOM_FLAG_LAST : 0, now);
        path_free_blocks(p->others.blocks);
        leave_threads(p);
        *p = (struct paths){.ended = &path_none_ended, .sequence = p->sequence, .tree = p->tree + 1};
        break;
    case ENDS_PROCESS:
        if (!p->parts) break;
        path_give_chunks(t, 0, now);
        begin_again(t, now);
        break;
    }
}

// ---- forks

// Whether this is a path, and not something else that lies in a frame.
static int is_path(const struct paths *p, const struct path *path) {
    for (const struct path_block *block = p->paths.blocks; block; block = block->next)
        if ((const char *)path > (const char *)block && (const char *)path < (const char *)block + block->size)
            return 1;
    return 0;
}

void paths_fork(struct thread *t) {
    struct paths *p = paths_of(t);
    chunk_forget(t);
    // The parent's other threads are not here.
    threads.first = NULL;
    p->is_known = 0;
    if (!p->parts || !t->memory) return;
    // A hook that goes on in the child must not add to what its parent adds up. A hook that counts does not mark the
    // thread as busy, and has one call to count at most.
    if (t->state == THREAD_INTERRUPTED) path_shadow_chunks(t, NULL);
    else if (is_path(p, t->top->path)) path_shadow_chunks(t, t->top->path->sums);
}

#ifdef FATHOM_VALID
int paths_are_valid(const struct thread *t) {
    const struct lane *lane = &t->lanes[t->lane];
    for (const struct frame *f = lane->frames; f <= t->top; f++)
        if (f->path != &no_path && !is_path(paths_of(t), f->path)) return 0;
    return lane->frames->path != NULL;
}
#endif

FATHOM_WITHOUT_HOOKS_END
