// A thread's call paths, which are added up while it runs. What the calls add up to lies in slots of the session's
// buffers (CTracePaths.h), where it outlives the process. What leads from path to path is the process's own memory,
// because any program of the session may write over the buffers, and a hook must not follow what it finds there.

#ifndef FATHOM_PATHS_H
#define FATHOM_PATHS_H

#include "../follow/mode.h"
#include "../host/runtime.h"

// Callees of a path form a ring, which begins anywhere. Those of a path with more than LISTED_CALLEES callees are in
// the thread's table, too, and the ring holds the first of them.
struct path {
    uintptr_t function;        // or NO_FUNCTION, FOLDED_FUNCTION
    struct path *child;        // the callee that was entered last; `no_path` when there is none
    struct path *next;         // of its caller's callees
    struct path *caller;       // a stack's root, which is no call, for its outermost calls
    struct fathom_path *sums;  // in the buffers
    uint16_t *counts;          // in the buffers, of durations in buckets from `base` on
    struct path_counts *more;  // all counts that it has
    uint32_t number;           // of its unit; FATHOM_NO_PATH: it has none, and nothing that is added up is kept
    uint16_t callees;          // up to LISTED_CALLEES + 1
    uint16_t base;
};
_Static_assert(sizeof(struct path) == 64, "it takes one line of the cache");

// No function can be there. The last two are callees that are no calls: they take what the path itself has no room for.
#define NO_FUNCTION 2ul
#define FOLDED_FUNCTION 3ul     // calls that can have no path
#define INHERITED_FUNCTION 4ul  // calls that began before they were recorded
#define LISTED_CALLEES 12u
#define NO_BASE 0xffffu

struct path_counts {
    struct path_counts *next;
    uint16_t *counts;
    uint16_t *carries;  // NULL: no count was full yet
    uint32_t base;
};

struct path_table {
    size_t mask;  // places less one
    size_t used;
    struct path_table *outgrown;  // not freed before the thread ends, because a hook may be reading it
    struct path *places[];
};

struct path_part;  // a chunk

// The process's memory, in pieces of 64 bytes that are zero at first.
struct path_arena {
    struct path_block *blocks;  // the newest first
    char *free, *end;
};

// What a thread keeps of its paths.
struct paths {
    // The call that ended last, while its duration is not counted yet. To find its place takes longer than everything
    // else that a hook does, and the processor does not begin to read the counter before it is found. So this is left
    // to the next exit, behind its reading of the counter, where the processor does both at once.
    struct path *ended;
    uint64_t ended_ticks;
    struct path_table *table;
    struct path_arena paths, others;
    struct path_block *retired;  // of trees that were given away
    struct path_table *retired_tables;
    struct path_counts *counts, *counts_end;  // room for some
    struct path_part *parts;                  // the newest first
    struct path *roots;                       // a ring through `next`
    struct path *entering;                    // the call's that is being told of
    uint64_t sequence;                        // of the next chunk
    uint64_t since;                           // ticks when the tree was begun
    struct paths *next;                       // of another thread
    uint32_t is_known;                        // it is in that list
    uint32_t tree, retry;
    uint32_t root_count;
    uint32_t units, limit;  // units of the newest chunk: used, and with memory
    uint32_t first;         // number of its first
};
_Static_assert(sizeof(struct paths) <= PATHS_SIZE, "the thread has room for it");
INTERNAL struct paths *paths_of(const struct thread *t) { return (struct paths *)t->paths; }

extern struct path no_path __attribute__((visibility("hidden")));

// ---- told of what is followed; the thread is busy

void paths_begin(struct thread *t, enum begins how);
void paths_end(struct thread *t, enum ends how, uint64_t now);
void paths_fork(struct thread *t);
// The path of a call that begins on the running lane. Makes it if need be.
struct path *paths_enter(struct thread *t, uintptr_t function);
void paths_lane(struct thread *t);  // the running lane may be new
// The call of this path that is open has ended.
void paths_close(struct thread *t, struct path *path, uint64_t now);
// Some library was unloaded, and another one may come to take its place: no path there is found any more. Any thread
// may call it. O(paths × modules).
void paths_forget_unloaded(void);
#ifdef FATHOM_VALID
int paths_are_valid(const struct thread *t);
#endif

// ---- for hooks too

INTERNAL size_t path_hash(const struct path *caller, uintptr_t function) {
    // Fibonacci hashing. Paths lie on lines of the cache.
    uint64_t mixed = (function ^ (uintptr_t)caller << 26) * 0x9e3779b97f4a7c15ull;
    return (size_t)(mixed ^ mixed >> 32);
}

// The path of a callee that is known; NULL: there is none. It reads only what stays as it was read, so handlers may
// come in between.
INTERNAL struct path *paths_find(const struct thread *t, struct path *caller, uintptr_t function) {
    if (caller->callees <= LISTED_CALLEES) {
        struct path *path = caller->child->next;
        for (uint32_t left = caller->callees; left > 0; left--, path = path->next)
            if (path->function == function) return path;
        return NULL;
    }
    const struct path_table *table = paths_of(t)->table;
    for (size_t place = path_hash(caller, function) & table->mask;; place = (place + 1) & table->mask) {
        struct path *path = table->places[place];
        if (!path || (path->function == function && path->caller == caller)) return path;
    }
}

// The same for a call that begins, which may have to be folded; NULL: only paths_enter can tell.
INTERNAL struct path *paths_find_callee(const struct thread *t, struct path *caller, uintptr_t function) {
    if (caller->function == FOLDED_FUNCTION) return caller;
    struct path *path = paths_find(t, caller, function);
    // Relaxed: it only decides where to look first.
    if (!path && __atomic_load_n(&runtime.buffers->path_count, __ATOMIC_RELAXED) >= runtime.head.max_paths)
        path = paths_find(t, caller, FOLDED_FUNCTION);
    if (path) caller->child = path;
    return path;
}

// The path of a callee if it was entered last, or is the one behind that; else another path. What is stored is a
// callee, whatever handlers have changed meanwhile.
INTERNAL struct path *paths_guess(struct path *caller, uintptr_t function) {
    struct path *path = caller->child;
    if (LIKELY(path->function == function)) return path;
    path = path->next;
    if (path->function == function && path != &no_path) caller->child = path;
    return path;
}

// A call begins.
INTERNAL void path_open(struct path *path, uint64_t now) {
    struct fathom_path *sums = path->sums;
    sums->moment = now << FATHOM_PATH_SHIFT | FATHOM_PATH_OPEN;
    sums->calls++;
}

// Adds the time of a call whose end has been told: when the thread is killed in between, that time is missing, and no
// time is there twice.
INTERNAL void path_add(struct path *path, uint64_t ticks) {
    struct fathom_path *sums = path->sums;
    sums->total += ticks;
    if (ticks < sums->shortest) sums->shortest = ticks;
    if (ticks > sums->longest) sums->longest = ticks;
}
// Counts a call that took that long. 0 when there is no place for it in path->counts, or the count there is full. The
// thread is busy.
INTERNAL int path_count(struct path *path, uint64_t ticks) {
    uint32_t place = fathom_duration_bucket(ticks) - path->base;
    if (UNLIKELY(place >= FATHOM_DURATIONS_SIZE || path->counts[place] == UINT16_MAX)) return 0;
    path->counts[place]++;
    return 1;
}

// Counts it where there is none.
void paths_count(struct thread *t, struct path *path, uint64_t ticks);

#endif
