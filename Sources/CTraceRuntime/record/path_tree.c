// How call paths are made and found.

#include "path_tree.h"

#include "../host/runtime.h"
#include "../session/modules.h"

FATHOM_WITHOUT_HOOKS

#define FIRST_PLACES 1024ul

// What is added up here is lost. Threads may write to it at once, because nobody reads it.
static struct fathom_path nowhere;

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

static size_t table_size(size_t places) { return sizeof(struct path_table) + places * sizeof(struct path *); }

void path_free_tables(struct path_table *table) {
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

struct path *path_new(struct paths *p, struct path *caller, uintptr_t function) {
    struct path *path = path_take(&p->paths);
    if (!path) return NULL;
    *path = no_path;
    path->function = function;
    path->caller = caller;
    path->next = path;
    return path;
}

// Undoes path_new, for a path that no reader has seen.
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

struct path *path_special(struct thread *t, struct path *caller, uintptr_t function, uint16_t unit) {
    struct path *path = paths_find(t, caller, function);
    if (path) return path;
    path = path_new(paths_of(t), caller, function);
    if (!path) return NULL;
    struct fathom_path *sums = path_add_unit(t, unit, path, &path->number);
    if (sums) path->sums = sums;
    if (sums && show(paths_of(t), path)) return path;
    forget_path(paths_of(t));
    return NULL;
}

static struct path *fold(struct thread *t, struct path *caller) {
    return path_special(t, caller, FOLDED_FUNCTION, FATHOM_UNIT_FOLDED);
}

// Libraries whose functions turn up are written down before their first call's path: nothing tells when dlopen is
// through.
static void look_at_module(uintptr_t function) {
    if (runtime.modules_stale && function < FATHOM_SCOPE_BASE && !modules_hold(&function, 1)) {
        modules_scan(LOADER_NOW);
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

void path_open_inherited(struct path *path, uint64_t since) {
    path->sums->moment = since << FATHOM_PATH_SHIFT | FATHOM_PATH_OPEN | FATHOM_PATH_INHERITED;
}

// After the tree was given away, open calls have no unit until a callee needs it.
static void give_open_units(struct thread *t) {
    for (struct frame *f = running_lane(t)->frames + 1; f <= t->top; f++) {
        struct path *path = f->path;
        if (path->number != FATHOM_NO_PATH) continue;
        if (path == &no_path || !give_unit(t, path)) return;
        if (runtime.options.keeps == FATHOM_KEEPS_TIMES) path_open_inherited(path, paths_of(t)->since);
    }
}

struct path *path_callee(struct thread *t, struct path *caller, uintptr_t function) {
    if (caller->function == FOLDED_FUNCTION || caller == &no_path) return caller;
    if (function <= INHERITED_FUNCTION) return &no_path;  // a program's own idea of a function
    struct path *path = paths_find(t, caller, function);
    if (!path) {
        if (caller->number == FATHOM_NO_PATH && !is_root(caller)) give_open_units(t);
        if (caller->number == FATHOM_NO_PATH && !is_root(caller)) return &no_path;
        path = path_new(paths_of(t), caller, function);
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
    struct path *path = path_callee(t, t->top->path, function);
    if (path == &no_path && t->state != THREAD_INTERRUPTED)
        // Relaxed: it is a count, and says nothing about anything else.
        __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED);
    return path;
}

FATHOM_WITHOUT_HOOKS_END
