// A thread may end without its TLS destructors, and its memory may be another thread's by now, or nobody's. So what
// other threads have is copied by the kernel, for which no address is wrong, and checked.

#include "roster.h"

#include "../host/runtime.h"
#include "../session/session.h"

#include <errno.h>
#include <sys/uio.h>

FATHOM_WITHOUT_HOOKS

#define PLACES 1024u
#define FRAMES_AT_ONCE 64u

static struct place {
    struct thread *thread;  // NULL: nobody's
    uint32_t id;            // kernel's; 0: it is about to be known
} places[PLACES];
// Threads that found no place, so that nothing is known of them.
static uint32_t others;

static void leave(struct place *place, struct thread *t) {
    fathom_store32(&place->id, 0);
    __atomic_compare_exchange_n(&place->thread, &t, NULL, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static struct place *place_of(const struct thread *t) {
    for (struct place *place = places; place < places + PLACES; place++)
        if (__atomic_load_n(&place->thread, __ATOMIC_ACQUIRE) == t) return place;
    return NULL;
}

void roster_add(struct thread *t) {
    if (!runtime.head.budget) return;
    struct place *place = place_of(t);  // a fork's child has its parent's places
    for (struct place *free = places; !place && free < places + PLACES; free++) {
        struct thread *nobody = NULL;
        if (__atomic_compare_exchange_n(&free->thread, &nobody, t, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) place = free;
    }
    if (place) fathom_store32(&place->id, t->id);
    else fathom_store32(&others, 1);
}

void roster_remove(struct thread *t) {
    struct place *place = runtime.head.budget ? place_of(t) : NULL;
    if (place) leave(place, t);
}

static int copy(void *to, const void *from, size_t size) { return system_copy(runtime.pid, to, from, size); }

// Copies of what other threads have. One thread at a time uses them.
static struct thread seen;
static struct lane lane;
static struct frame frames[FRAMES_AT_ONCE];

// Calls end meanwhile, and others begin, but what is open from here on to the end is seen.
static int see_lane(uint32_t index, void (*see)(uintptr_t)) {
    if (!copy(&lane, &seen.lanes[index], sizeof lane)) return 0;
    const struct frame *top = index == seen.lane ? seen.top : lane.top;
    // The lanes were changed meanwhile.
    if (top < lane.frames || top >= lane.end) return 0;
    for (const struct frame *next = lane.frames + 1; next <= top;) {
        size_t count = (size_t)(top + 1 - next);
        if (count > FRAMES_AT_ONCE) count = FRAMES_AT_ONCE;
        if (!copy(frames, next, count * sizeof *frames)) return 0;
        for (size_t i = 0; i < count; i++) see(frames[i].function);
        next += count;
    }
    return 1;
}

static int see_thread(struct place *place, const struct thread *self, void (*see)(uintptr_t)) {
    struct thread *t = __atomic_load_n(&place->thread, __ATOMIC_ACQUIRE);
    uint32_t id = fathom_load32(&place->id);
    uint64_t idle;
    if (!t) return 1;
    if (t != self) {
        if (id && !system_is_thread(runtime.pid, id)) {
            leave(place, t);
            return 1;
        }
        // This comes before the rest: what a hook was about to change is changed by then.
        if (!id || !copy(&idle, &t->idle, sizeof idle) || !idle) return 0;
    }
    if (!copy(&seen, t, sizeof seen)) return 0;
    if (seen.state == THREAD_UNATTACHED) return 1;
    if (seen.state != THREAD_ATTACHED || seen.id != id || (t != self && seen.side_count)) return 0;
    for (uint32_t i = 0; i < seen.lane_count; i++)
        if (!see_lane(i, see)) return 0;
    return 1;
}

int roster_see_open(const struct thread *self, void (*see)(uintptr_t function)) {
    if (fathom_load32(&others)) return 0;
    for (struct place *place = places; place < places + PLACES; place++)
        if (!see_thread(place, self, see)) return 0;
    return 1;
}

#define LIMIT 256u
#define TAKEN UINT32_MAX  // in place of a thread's id: somebody is changing the entry

// An entry belongs to whoever has put TAKEN in place of its id, by a swap that acquires what was stored before. Storing
// an id, or 0, releases it.
static struct {
    uint32_t id;  // the kernel's; 0: free
    uint32_t serial;
    void *memory;  // the thread's first mapping
} entries[LIMIT];

static void give_back(uint32_t i) {
    session_give_left(entries[i].serial);
    system_free(entries[i].memory, MEMORY_SIZE);
}

// The new thread may have the id of one that is gone.
static int is_gone(uint32_t id, const struct thread *joining) {
    return (joining && id == joining->id) || !system_is_thread(runtime.pid, id);
}

static void sweep(const struct thread *joining) {
    for (uint32_t i = 0; i < LIMIT; i++) {
        uint32_t id = fathom_load32(&entries[i].id);
        if (!id || id == TAKEN || !is_gone(id, joining) || !fathom_swap32(&entries[i].id, id, TAKEN)) continue;
        give_back(i);
        fathom_store32(&entries[i].id, 0);
    }
}

void untold_sweep(void) { sweep(NULL); }

int untold_join(struct thread *t) {
    sweep(t);
    for (uint32_t i = 0; i < LIMIT; i++) {
        if (fathom_load32(&entries[i].id) || !fathom_swap32(&entries[i].id, 0, TAKEN)) continue;
        entries[i].serial = t->serial;
        entries[i].memory = t->memory;
        t->untold = i + 1;
        fathom_store32(&entries[i].id, t->id);
        return 1;
    }
    return 0;
}

void untold_leave(struct thread *t) {
    if (!t->untold) return;
    fathom_store32(&entries[t->untold - 1].id, 0);
    t->untold = 0;
}

void untold_forget(void) { __builtin_memset(entries, 0, sizeof entries); }

FATHOM_WITHOUT_HOOKS_END
