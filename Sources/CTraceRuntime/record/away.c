// What is found out of times without a CPU from the processor times of threads.

#include "away.h"

#include "../host/system.h"
#include "../session/metadata.h"
#include "../session/session.h"

#include <sys/resource.h>

FATHOM_WITHOUT_HOOKS

// Nothing is asked of the kernel at a record that follows another one soon, because the thread has not been away for
// long. What it was away before a record that comes late is the time since its processor time was looked at last, less
// the processor time since. So that this is little more than the time without a record, it is looked at once in a
// while.

// Parts of a second: without a record for so long, the thread may have been away; it is looked at the processor time so
// often, at late records; and nothing shorter is told of.
#define LONG 5000u
#define OFTEN 1000u
#define LEAST_NS 20000u
// A part of a second: a process that ends looks at its threads for no longer.
#define PATIENCE 50u

static uint64_t nanoseconds(uint64_t ticks) {
    return (uint64_t)((unsigned __int128)ticks * 1000000000u / runtime.ticks_per_second);
}

void away_begin(struct thread *t) {
    struct writer *w = writer_of(t);
    struct rusage usage;
    if (confine_unnoted()) return away_forget(w);
    w->away.processor_ns = system_processor_ns();
    w->away.ticks = now_ticks();
    // How often the thread gave up its CPU by itself. Where it did not, its CPU was taken from it.
    w->away.switches = system_usage(&usage) ? 0 : (uint64_t)usage.ru_nvcsw;
    away_publish(w);
}

uint64_t away_look(struct thread *t, uint64_t now) {
    struct writer *w = writer_of(t);
    uint64_t gap = now > t->last ? now - t->last : 0;
    int is_long = gap >= runtime.ticks_per_second / LONG;
    // What others found out is about the time before this record.
    if (is_long && w->chunk) fathom_store64(&w->chunk->end_ns, 0);
    // What a handler left while the thread was in a hook may have happened before the last look.
    if (w->away.is_told || now <= w->away.ticks) return 0;
    if (!is_long && now - w->away.ticks < runtime.ticks_per_second / OFTEN) return 0;
    // A shorter call may be taken back, and what is told in it with it.
    if (is_long && gap < t->min_cost) return 0;
    struct away before = w->away;
    away_begin(t);
    if (!is_long || !before.ticks || !w->away.ticks || w->away.processor_ns < before.processor_ns) return 0;
    uint64_t passed = nanoseconds(w->away.ticks - before.ticks), ran = w->away.processor_ns - before.processor_ns;
    if (passed < ran + LEAST_NS || w->away.switches == before.switches) return 0;
    uint64_t away = passed - ran, most = nanoseconds(gap);
    return away < most ? away : most;
}

static void look_at(struct fathom_chunk *chunk) {
    if (chunk->kind != FATHOM_CHUNK_RECORDS || chunk->tid == current.id) return;
    uint64_t looked_ns, ticks = fathom_chunk_last_look(chunk, &looked_ns);
    uint32_t used = fathom_load32(&chunk->used);
    uint64_t now = now_ticks(), least = runtime.ticks_per_second / LONG;
    if (!ticks || now - ticks < least) return;
    uint64_t passed = nanoseconds(now - ticks), total = system_thread_processor_ns(chunk->tid);
    if (total < looked_ns || passed < total - looked_ns + nanoseconds(least)) return;
    // A thread that wants a CPU now may have wanted it all the time.
    if (system_thread_sleeps(chunk->tid)) fathom_chunk_note_away(chunk, used, passed - (total - looked_ns));
}

void away_look_at_others(void) {
    uint64_t latest = now_ticks() + runtime.ticks_per_second / PATIENCE;
    uint32_t slots = session_slots();
    for (uint32_t slot = 0; slot < slots && now_ticks() < latest; slot++) {
        struct fathom_chunk *chunk = session_owned(slot);
        if (chunk) look_at(chunk);
    }
}

FATHOM_WITHOUT_HOOKS_END
