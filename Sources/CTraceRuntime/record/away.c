// Nothing is asked of the kernel at a record that follows another one soon, because the thread has not been away for
// long. What it was away before a record that comes late is the time since its processor time was looked at last, less
// the processor time since. So that this is little more than the time without a record, it is looked at once in a
// while.

#include "away.h"

#include <sys/resource.h>

#include "../file/confined.h"
#include "../host/system.h"

FATHOM_WITHOUT_HOOKS

// Parts of a second: without a record for so long, the thread may have been away; it is looked at the processor time so
// often, at late records; and nothing shorter is told of.
#define LONG 5000u
#define OFTEN 1000u
#define LEAST_NS 20000u

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
    w->away.switches = SYSTEM(getrusage, RUSAGE_THREAD, &usage, 0, 0, 0, 0) ? 0 : (uint64_t)usage.ru_nvcsw;
}

uint64_t away_look(struct thread *t, uint64_t now) {
    struct writer *w = writer_of(t);
    uint64_t gap = now > t->last ? now - t->last : 0;
    int is_long = gap >= runtime.ticks_per_second / LONG;
    if (w->away.is_told) return 0;
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

FATHOM_WITHOUT_HOOKS_END
