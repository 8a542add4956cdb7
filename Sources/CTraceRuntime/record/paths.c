// How call paths are made, and what becomes of them when a thread's calls are not followed in the ordinary way.

#include "paths.h"

#include "../file/modules.h"
#include "../host/runtime.h"
#include "chunk.h"
#include "path_memory.h"

FATHOM_WITHOUT_HOOKS

#define FIRST_PLACES 1024ul
#define MARKED 0x8000u  // in `callees`, while calls are gone through

// What is added up here is lost. Threads may write to it at once, because nobody reads it.
static struct fathom_path nowhere;

// Takes the place of a call that has ended when there is none.
static uint32_t no_counts[FATHOM_DURATIONS_SIZE];
static struct path none_ended = {.counts = no_counts};

struct path no_path = {
    .function = NO_FUNCTION,
    .child = &no_path,
    .next = &no_path,
    .caller = &no_path,
    .sums = &nowhere,
    .number = FATHOM_NO_PATH,
    .base = NO_BASE,
};

// ---- the process's memory

static struct path_counts *take_counts(struct paths *p) {
    if (p->counts == p->counts_end) {
        struct path_counts *more = path_take(&p->others);
        if (!more) return NULL;
        p->counts = more;
        p->counts_end = more + sizeof(struct path) / sizeof *more;
    }
    return p->counts++;
}

static size_t table_size(size_t places) { return sizeof(struct path_table) + places * sizeof(struct path *); }

static void free_tables(struct path_table *table) {
    for (struct path_table *next; table; table = next) {
        next = table->outgrown;
        system_free(table, table_size(table->mask + 1));
    }
}

static void place(struct path_table *table, struct path *path) {
    size_t place = path_hash(path->caller, path->function) & table->mask;
    while (table->places[place]) place = (place + 1) & table->mask;
    table->places[place] = path;
    table->used++;
}

// Makes room for `count` more paths in the table. 0 when there is no memory.
static int reserve_places(struct paths *p, size_t count) {
    struct path_table *old = p->table;
    if (old && (old->used + count) * 2 <= old->mask + 1) return 1;
    size_t places = old ? (old->mask + 1) * 2 : FIRST_PLACES;
    struct path_table *table = system_allocate(table_size(places));
    if (!table) return 0;
    table->mask = places - 1;
    table->outgrown = old;
    for (size_t i = 0; old && i <= old->mask; i++)
        if (old->places[i]) place(table, old->places[i]);
    p->table = table;
    return 1;
}

static int is_root(const struct path *path) { return path->caller == &no_path; }

static struct path *new_path(struct paths *p, struct path *caller, uintptr_t function) {
    struct path *path = path_take(&p->paths);
    if (!path) return NULL;
    *path = no_path;
    path->function = function;
    path->caller = caller;
    path->next = path;
    return path;
}

// Undoes new_path, for a path that no reader has seen.
static void forget_path(struct paths *p) { p->paths.free -= sizeof(struct path); }

// Lets a path be found. It is whole by then, because a handler's hooks may look for it from then on.
static int show(struct paths *p, struct path *path) {
    struct path *caller = path->caller, *ring = caller->child;
    if (caller->callees >= LISTED_CALLEES) {
        if (!reserve_places(p, LISTED_CALLEES + 1)) return 0;
        if (caller->callees == LISTED_CALLEES) {
            struct path *listed = ring;
            for (uint32_t i = 0; i < LISTED_CALLEES; i++, listed = listed->next) place(p->table, listed);
            caller->callees++;
        }
        path->next = ring;  // so that something is there for whoever follows it
        place(p->table, path);
    } else {
        if (caller->callees > 0) path->next = ring->next;
        BARRIER();
        if (caller->callees > 0) ring->next = path;
        caller->child = path;
        caller->callees++;
    }
    BARRIER();
    caller->child = path;
    return 1;
}

// ---- making paths

// A callee of the path that is no call; NULL when there is no room. `function` and `unit` say which.
static struct path *special(struct thread *t, struct path *caller, uintptr_t function, uint16_t unit) {
    struct path *path = paths_find(t, caller, function);
    if (path) return path;
    path = new_path(paths_of(t), caller, function);
    if (!path) return NULL;
    struct fathom_path *sums = path_add_unit(t, unit, path, &path->number);
    if (sums) path->sums = sums;
    if (sums && show(paths_of(t), path)) return path;
    forget_path(paths_of(t));
    return NULL;
}

static struct path *fold(struct thread *t, struct path *caller) {
    return special(t, caller, FOLDED_FUNCTION, FATHOM_UNIT_FOLDED);
}

// Libraries whose functions turn up are written down before their first call's path: nothing tells when dlopen is
// through.
static void look_at_module(uintptr_t function) {
    if (runtime.modules_stale && function < FATHOM_SCOPE_BASE && !modules_hold(&function, 1)) {
        modules_scan();
        runtime.modules_stale = 1;
    }
}

// Gives a path its unit. `caller` has one, or is a root.
static int give_unit(struct thread *t, struct path *path) {
    look_at_module(path->function);
    struct fathom_path *sums = path_add_unit(t, FATHOM_UNIT_PATH, path, &path->number);
    if (!sums) return 0;
    BARRIER();
    path->sums = sums;
    return 1;
}

static void open_inherited(struct path *path, uint64_t since) {
    path->sums->moment = since << FATHOM_PATH_SHIFT | FATHOM_PATH_OPEN | FATHOM_PATH_INHERITED;
}

// After the tree was given away, open calls have no unit until a callee needs it.
static void give_open_units(struct thread *t) {
    for (struct frame *f = running_lane(t)->frames + 1; f <= t->top; f++) {
        struct path *path = f->path;
        if (path->number != FATHOM_NO_PATH) continue;
        if (path == &no_path || !give_unit(t, path)) return;
        if (runtime.options.keeps == FATHOM_KEEPS_TIMES) open_inherited(path, paths_of(t)->since);
    }
}

// The callee's path, found or made. Where nothing can be kept of it, `no_path`.
static struct path *callee(struct thread *t, struct path *caller, uintptr_t function) {
    if (caller->function == FOLDED_FUNCTION || caller == &no_path) return caller;
    if (function <= INHERITED_FUNCTION) return &no_path;  // a program's own idea of a function
    struct path *path = paths_find(t, caller, function);
    if (!path) {
        if (caller->number == FATHOM_NO_PATH && !is_root(caller)) give_open_units(t);
        if (caller->number == FATHOM_NO_PATH && !is_root(caller)) return &no_path;
        path = new_path(paths_of(t), caller, function);
        if (!path) return &no_path;
        if (!give_unit(t, path) || !show(paths_of(t), path)) {
            forget_path(paths_of(t));
            path = fold(t, caller);
        }
    }
    if (!path) return &no_path;
    caller->child = path;
    return path;
}

struct path *paths_enter(struct thread *t, uintptr_t function) {
    struct path *path = callee(t, t->top->path, function);
    if (path == &no_path && t->state != THREAD_INTERRUPTED)
        // Relaxed: it is a count, and says nothing about anything else.
        __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED);
    return path;
}

// ---- adding up

// Makes path->counts hold a bucket. `centre` is where most buckets are expected. 0 when there is no room.
static int aim_counts(struct thread *t, struct path *path, uint32_t bucket, uint32_t centre) {
    struct path_counts *known = path->more;
    while (known && bucket - known->base >= FATHOM_DURATIONS_SIZE) known = known->next;
    if (!known) {
        struct path_counts *made = take_counts(paths_of(t));
        uint32_t number;
        struct fathom_durations *unit = made ? path_new_unit(t, 2, &number) : NULL;
        if (!unit) return 0;
        uint32_t half = FATHOM_DURATIONS_SIZE / 2, last = FATHOM_BUCKETS - FATHOM_DURATIONS_SIZE;
        uint32_t base = centre < half ? 0 : centre - half;
        if (base > last) base = last;
        if (bucket - base >= FATHOM_DURATIONS_SIZE)
            base = bucket < half ? 0 : bucket - half < last ? bucket - half : last;
        *unit = (struct fathom_durations){.unit = FATHOM_UNIT_DURATIONS, .first = (uint16_t)base, .path = path->number};
        path_publish(paths_of(t), 2);
        *made = (struct path_counts){path->more, unit->counts, base};
        path->more = known = made;
    }
    path->counts = known->counts;
    path->base = (uint16_t)known->base;
    return 1;
}

static void count(struct thread *t, struct path *path, uint64_t ticks, uint32_t centre) {
    if (aim_counts(t, path, fathom_duration_bucket(ticks), centre)) path_count(path, ticks);
}

void paths_count(struct thread *t, struct path *path, uint64_t ticks) {
    count(t, path, ticks, fathom_duration_bucket(ticks));
}

static void count_ended(struct thread *t) {
    struct paths *p = paths_of(t);
    if (!path_count(p->ended, p->ended_ticks)) paths_count(t, p->ended, p->ended_ticks);
    p->ended = &none_ended;
    p->ended_ticks = 0;
}

// A call has ended that took that long.
static void count_any(struct thread *t, struct path *path, uint64_t ticks) {
    const struct fathom_path *sums = path->sums;
    uint32_t bucket = fathom_duration_bucket(ticks);
    if (path->number == FATHOM_NO_PATH || path->function == FOLDED_FUNCTION) return;
    if (!path->more) {
        if (sums->calls <= 2) return;
        uint64_t shortest = sums->shortest, longest = sums->longest;
        if (shortest > longest) return;
        bucket = (fathom_duration_bucket(shortest) + fathom_duration_bucket(longest)) / 2;
        count(t, path, shortest, bucket);
        count(t, path, longest, bucket);
    }
    count(t, path, ticks, bucket);
}

void paths_close(struct thread *t, struct path *path, uint64_t now) {
    struct fathom_path *sums = path->sums;
    uint64_t moment = sums->moment, start = moment >> FATHOM_PATH_SHIFT, ticks = now > start ? now - start : 0;
    if (!(moment & FATHOM_PATH_OPEN)) return;
    sums->moment = now << FATHOM_PATH_SHIFT;
    if (!(moment & FATHOM_PATH_INHERITED)) {
        count_any(t, path, ticks);
        path_add(path, ticks);
        return;
    }
    sums->total += ticks;
    struct path *inherited = special(t, path, INHERITED_FUNCTION, FATHOM_UNIT_INHERITED);
    if (!inherited) return;
    inherited->sums->total += ticks;
    inherited->sums->calls++;
}

// ---- threads

// Those that have paths.
static struct {
    uint32_t lock;
    struct paths *first;
} threads;

static void join_threads(struct paths *p) {
    if (p->is_known) return;
    uint64_t signals = lock_take(&threads.lock);
    p->is_known = 1;
    p->next = threads.first;
    threads.first = p;
    lock_give(&threads.lock, signals);
}

// Frees the thread's paths, which no thread looks at any more.
static void leave_threads(struct paths *p) {
    uint64_t signals = lock_take(&threads.lock);
    struct paths **link = &threads.first;
    while (*link && *link != p) link = &(*link)->next;
    if (*link) *link = p->next;
    path_free_blocks(p->paths.blocks);
    path_free_blocks(p->retired);
    lock_give(&threads.lock, signals);
    free_tables(p->table);
    free_tables(p->retired_tables);
}

void paths_forget_unloaded(void) {
    uint64_t signals = lock_take(&threads.lock);
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
    lock_give(&threads.lock, signals);
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
    root = new_path(p, &no_path, NO_FUNCTION);
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
            f->path = callee(t, f[-1].path, f->function);
            if (opens && has_unit(f->path) && f->path->function != FOLDED_FUNCTION) open_inherited(f->path, since);
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
        .ended = &none_ended,
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
            struct path *path = new_path(p, f[-1].path, f->function);
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
        join_threads(p);
        break;
    case BEGINS_RUNNING: break;
    }
    adopt(t, 1);
}

void paths_end(struct thread *t, enum ends how, uint64_t now) {
    struct paths *p = paths_of(t);
    count_ended(t);
    switch (how) {
    case ENDS_FOR_NOW: break;  // everything is in the buffers already
    case ENDS_ABANDONED: mend(t, now_ticks()); break;
    case ENDS_STOPPED:
        if (runtime.options.keeps == FATHOM_KEEPS_TIMES) close_all(t, now);
        break;
    case ENDS_THREAD:
        path_give_chunks(t, FATHOM_FLAG_LAST, now);
        path_free_blocks(p->others.blocks);
        leave_threads(p);
        *p = (struct paths){.ended = &none_ended, .sequence = p->sequence, .tree = p->tree + 1};
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
    // The parent's other threads are not here, and may have held the lock.
    threads.lock = 0;
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
