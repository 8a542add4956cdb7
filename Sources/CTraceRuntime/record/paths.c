// How call paths are made, and what becomes of them when a thread's calls are not followed in the ordinary way.

#include "paths.h"

#include "../file/confined.h"
#include "../file/metadata.h"
#include "../file/modules.h"
#include "../file/session.h"
#include "../file/windows.h"
#include "../host/runtime.h"
#include "chunk.h"

FATHOM_WITHOUT_HOOKS

#define FIRST_SIZE (4ul * 1024)    // of a thread's first chunk, as far as it has memory
#define FIRST_BLOCK (16ul * 1024)  // of the process's memory
#define LAST_BLOCK (1024ul * 1024)
#define FIRST_PLACES 1024ul
#define MARKED 0x8000u  // in `callees`, while calls are gone through

struct path_block {
    struct path_block *next;
    size_t size;
    char rest[48];
};
_Static_assert(sizeof(struct path_block) == sizeof(struct path), "what lies behind it is aligned");

struct path_part {
    struct path_part *next;
    struct fathom_chunk *chunk;
    uint32_t slot;
};

// What is added up here is lost. Threads may write to it at once, because nobody reads it.
static struct fathom_path nowhere;
static uint32_t shown_nowhere;

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

// 64 bytes, for as long as the tree is there. NULL when there is no memory.
static void *take(struct path_arena *arena) {
    if (arena->free == arena->end) {
        size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
        if (size > LAST_BLOCK) size = LAST_BLOCK;
        struct path_block *block = system_allocate(size);
        if (!block) return NULL;
        block->size = size;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->free = (char *)(block + 1);
        arena->end = (char *)block + size;
    }
    char *taken = arena->free;
    arena->free += sizeof(struct path);
    return taken;
}

static struct path_counts *take_counts(struct paths *p) {
    if (p->counts == p->counts_end) {
        struct path_counts *more = take(&p->others);
        if (!more) return NULL;
        p->counts = more;
        p->counts_end = more + sizeof(struct path) / sizeof *more;
    }
    return p->counts++;
}

static void free_blocks(struct path_block *block) {
    for (struct path_block *next; block; block = next) {
        next = block->next;
        system_free(block, block->size);
    }
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
    struct path *path = take(&p->paths);
    if (!path) return NULL;
    *path = no_path;
    path->function = function;
    path->caller = caller;
    path->next = path;
    return path;
}

// Undoes new_path, for a path that nobody has seen.
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

// ---- the buffers

static uint32_t units_in(size_t size) {
    return (uint32_t)((size - sizeof(struct fathom_chunk) - sizeof(struct fathom_paths_head)) / FATHOM_UNIT_SIZE);
}

static struct fathom_path *unit_at(const struct fathom_chunk *chunk, uint32_t index) {
    return (struct fathom_path *)((char *)(chunk + 1) + sizeof(struct fathom_paths_head)) + index;
}

static int begin_chunk(struct thread *t) {
    struct paths *p = paths_of(t);
    uint32_t slot;
    size_t size;
    struct path_part *part = take(&p->others);
    if (!part) return 0;
    struct fathom_chunk *chunk = session_take_slot(FIRST_SIZE > PAGE_SIZE ? FIRST_SIZE : PAGE_SIZE, p->parts != NULL,
                                                   &slot, &size);
    if (!chunk) return 0;
    if (p->parts) p->first += p->units;
    chunk_hide(chunk);
    *chunk = (struct fathom_chunk){
        .kind = FATHOM_CHUNK_PATHS,
        .process = runtime.process,
        .thread = t->serial,
        .pid = runtime.pid,
        .tid = t->id,
        .sequence = p->sequence++,
        .begin_ticks = now_ticks(),
        .begin_ns = system_monotonic_ns(),
        .used = sizeof(struct fathom_paths_head),
        .capacity = runtime.slot_size - (uint32_t)sizeof *chunk,
    };
    chunk_write_name(t, chunk);
    struct fathom_paths_head *head = (struct fathom_paths_head *)(chunk + 1);
    *head = (struct fathom_paths_head){
        .tree = p->tree, .first = p->first, .keeps = runtime.options.keeps, .current = FATHOM_NO_PATH};
    fathom_store32(&chunk->magic, FATHOM_CHUNK_MAGIC);  // release: live readers find the header behind it
    if (!p->parts) p->shown = &head->current;
    part->chunk = chunk;
    part->slot = slot;
    part->next = p->parts;
    p->parts = part;
    p->units = 0;
    p->limit = units_in(size);
    metadata_look_at_title(chunk->begin_ticks);
    return 1;
}

// Makes room for a unit. Signals are blocked.
static int make_room(struct thread *t) {
    struct paths *p = paths_of(t);
    uint32_t all = units_in(runtime.slot_size);
    if (p->parts && p->limit < all) {
        char *end = (char *)unit_at(p->parts->chunk, p->limit);
        char *page = (char *)((uintptr_t)end & ~(PAGE_SIZE - 1)), *slot_end = (char *)p->parts->chunk + runtime.slot_size;
        if (!system_populate(page, (size_t)(slot_end - page))) {
            p->limit = all;
            return 1;
        }
    }
    return begin_chunk(t);
}

// Room for `count` units more, which readers do not see yet; NULL when there is none.
static void *new_unit(struct thread *t, uint32_t count, uint32_t *number) {
    struct paths *p = paths_of(t);
    if (p->parts && p->units + count <= p->limit) {
        *number = p->first + p->units;
        return unit_at(p->parts->chunk, p->units);
    }
    if (p->retry > 1) {
        p->retry--;
        return NULL;
    }
    if (confine_unnoted()) return NULL;
    uint64_t signals = system_block_signals();
    int has_room = t->state != THREAD_INTERRUPTED && make_room(t);
    system_restore_signals(signals);
    p->retry = has_room ? 0 : RETRY_CALLS;
    return has_room ? new_unit(t, count, number) : NULL;
}

// Shows readers what new_unit gave out.
static void publish(struct paths *p, uint32_t count) {
    p->units += count;
    // Release: live readers find the unit below it.
    fathom_store32(&p->parts->chunk->used,
                   (uint32_t)sizeof(struct fathom_paths_head) + p->units * (uint32_t)FATHOM_UNIT_SIZE);
}

// Whether the session may have one path more.
static int count_path(void) {
    uint32_t *count = &runtime.buffers->path_count;
    // Looking first keeps the count from running over.
    return fathom_load32(count) < runtime.max_paths && fathom_add32(count, 1) < runtime.max_paths;
}

// A unit of the shape of a path's; NULL when there is no room, or the session may have no more paths.
static struct fathom_path *add_unit(struct thread *t, uint16_t unit, const struct path *path, uint32_t *number) {
    struct fathom_path *sums = new_unit(t, 1, number);
    if (!sums || (unit == FATHOM_UNIT_PATH && !count_path())) return NULL;
    *sums = (struct fathom_path){
        .unit = unit,
        .path = path->caller->number,
        .function = unit == FATHOM_UNIT_PATH ? path->function : 0,
        .first = now_ticks(),
        .shortest = UINT64_MAX,
    };
    publish(paths_of(t), 1);
    return sums;
}

// ---- making paths

// A callee of the path that is no call; NULL when there is no room. `function` and `unit` say which.
static struct path *special(struct thread *t, struct path *caller, uintptr_t function, uint16_t unit) {
    struct path *path = paths_find(t, caller, function);
    if (path) return path;
    path = new_path(paths_of(t), caller, function);
    if (!path) return NULL;
    struct fathom_path *sums = add_unit(t, unit, path, &path->number);
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
    struct fathom_path *sums = add_unit(t, FATHOM_UNIT_PATH, path, &path->number);
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
        struct fathom_durations *unit = made ? new_unit(t, 2, &number) : NULL;
        if (!unit) return 0;
        uint32_t half = FATHOM_DURATIONS_SIZE / 2, last = FATHOM_BUCKETS - FATHOM_DURATIONS_SIZE;
        uint32_t base = centre < half ? 0 : centre - half;
        if (base > last) base = last;
        if (bucket - base >= FATHOM_DURATIONS_SIZE) base = bucket < half ? 0 : bucket - half < last ? bucket - half : last;
        *unit = (struct fathom_durations){.unit = FATHOM_UNIT_DURATIONS, .first = (uint16_t)base, .path = path->number};
        publish(paths_of(t), 2);
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
static int opens(const struct path *path) { return has_unit(path) && path->function >= NO_FUNCTION && path->sums->unit == FATHOM_UNIT_PATH; }

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

// Gives what was added up to the recorder.
static void give(struct thread *t, uint8_t flags, uint64_t now) {
    struct paths *p = paths_of(t);
    uint64_t signals = system_block_signals();
    // A handler may have forked since the caller looked. Then the chunks are the parent's.
    if (t->state != THREAD_INTERRUPTED) {
        uint64_t now_ns = system_monotonic_ns();
        for (struct path_part *part = p->parts; part; part = part->next) {
            part->chunk->flags |= flags;
            part->chunk->end_ns = now_ns;
            part->chunk->end_ticks = now > part->chunk->begin_ticks ? now : part->chunk->begin_ticks;
            chunk_write_name(t, part->chunk);
            session_give_slot(part->slot);
        }
    }
    p->parts = NULL;
    system_restore_signals(signals);
}

// Forgets all paths, so that new ones can be made. Their memory stays where it is.
static void reset(struct thread *t) {
    struct paths *p = paths_of(t);
    *p = (struct paths){.shown = &shown_nowhere,
                         .ended = &none_ended,
                         .sequence = p->sequence,
                         .tree = p->tree,
                         .retired = p->retired};
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) lane->frames->path = NULL;
}

static void free_all(struct paths *p) {
    free_blocks(p->paths.blocks);
    free_blocks(p->others.blocks);
    free_tables(p->table);
}

// The process may be about to end, or go on. Open calls go on without units, until they call something.
static void begin_again(struct thread *t, uint64_t now) {
    struct paths *p = paths_of(t);
    struct path_block *paths = p->paths.blocks;
    free_blocks(p->retired);
    free_blocks(p->others.blocks);
    free_tables(p->table);
    reset(t);
    p->retired = paths;  // a hook that was interrupted may still look at them
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
        // fall through
    case BEGINS_AGAIN: reset(t); break;
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
        give(t, FATHOM_FLAG_LAST, now);
        free_all(p);
        free_blocks(p->retired);
        *p = (struct paths){
            .shown = &shown_nowhere, .ended = &none_ended, .sequence = p->sequence, .tree = p->tree + 1};
        break;
    case ENDS_PROCESS:
        if (!p->parts) break;
        give(t, 0, now);
        begin_again(t, now);
        break;
    }
}

// ---- forks

// Whether this is a path, and not something else that lies in a frame.
static int is_path(const struct paths *p, const struct path *path) {
    for (const struct path_block *block = p->paths.blocks; block; block = block->next)
        if ((const char *)path > (const char *)block && (const char *)path < (const char *)block + block->size) return 1;
    return 0;
}

void paths_fork(struct thread *t) {
    struct paths *p = paths_of(t);
    chunk_forget(t);
    if (!p->parts || !t->memory) return;
    // A hook that goes on in the child must not add to what its parent adds up. A hook that counts does not mark the
    // thread as busy, and has one call to count at most.
    const char *sums = is_path(p, t->top->path) ? (const char *)t->top->path->sums : NULL;
    for (struct path_part *part = p->parts; part; part = part->next) {
        size_t offset = (size_t)(sums - (const char *)part->chunk);
        int shows = runtime.options.keeps == FATHOM_KEEPS_SAMPLES && !part->next;
        if (t->state == THREAD_INTERRUPTED || shows || (sums && offset < runtime.slot_size)) windows_shadow_slot(part->slot);
    }
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
