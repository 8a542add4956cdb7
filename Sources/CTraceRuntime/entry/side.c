// Hooks of signal handlers that interrupted a hook. They go to a buffer of their own and are recorded when the
// interrupted hook is through, so records never interleave.

#include "side.h"

#include "../file/chunk.h"
#include "../filter/filter.h"
#include "../follow/pause.h"
#include "../host/process.h"
#include "../host/runtime.h"
#include "../modes/trace.h"

FATHOM_WITHOUT_HOOKS

void record_event(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now,
                  uint64_t hook) {
    // A handler that interrupted this hook has forked, and no hook has registered the child yet, or one of the handler's.
    if (UNLIKELY(t->state == THREAD_INTERRUPTED || t->state == THREAD_UNATTACHED)) {
        if (control.mode == MODE_UNKNOWN && !runtime_ready()) return;
        if (!thread_attach(t, sp)) return;
        t->idle = 0;
        BARRIER();
    }
    pause_settle(t);
    if (now < t->last) now = t->last;
    switch (hook) {
    case HOOK_ENTER:
        return record_enter(t, function, call_site, sp, now);
    case HOOK_LANDING:
        return lane_land(t, sp, now);
    case HOOK_SCOPE_END:
        return record_scope_end(t, sp, now);
    case HOOK_MARK:
        return record_mark(t, (uint32_t)function, sp, now);
    case HOOK_COUNTER:
        return record_counter(t, (uint32_t)function, call_site, sp, now);
    case HOOK_SAVE:
        if (t->chunk) chunk_finish(t, now);
        return;
    case HOOK_SETTLE:
        return;
    }
    record_exit(t, function, call_site, sp, now, hook);
}

// Async-signal-safe, also against handlers that interrupt it: the place is reserved before it is filled.
void side_append(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook) {
    uint64_t ticks = now_ticks();
    if (hook > HOOK_ENTER && hook < HOOK_MARK && t->side_lost) {
        t->side_lost--;
        return;
    }
    uint32_t place = __atomic_fetch_add(&t->side_count, 1, __ATOMIC_RELAXED);
    if (place >= SIDE_LIMIT) {
        __atomic_fetch_sub(&t->side_count, 1, __ATOMIC_RELAXED);
        // An exit whose enter found room leaves its call open: the next record of the interrupted code ends it.
        if (hook == HOOK_ENTER) {
            t->side_lost++;
            chunk_lose_call(t);
        }
        return;
    }
    t->side[place] = (struct side_event){function, call_site, sp, ticks, hook};
}

void side_drain(struct thread *t) {
    for (;;) {
        t->idle = 0;
        BARRIER();
        uint32_t done = 0, count;
        do {
            for (; done < (count = __atomic_load_n(&t->side_count, __ATOMIC_RELAXED)); done++) {
                struct side_event event = t->side[done];
                if (event.function)
                    record_event(t, event.function, event.call_site, event.stack_pointer, event.ticks, event.hook);
                t->side[done].function = 0;
            }
            // Less than are done when a handler has forked meanwhile: the child has forgotten what its parent records.
        } while (!fathom_swap32(&t->side_count, count, 0));
        uint64_t idle = filter_settle(t);
        BARRIER();
        t->idle = idle;
        BARRIER();
        // A handler that came after the swap found the thread busy.
        if (!t->side_count) return;
    }
}

void side_abandon(struct thread *t) {
    // The interrupted hook may have written its record but not its frame, or the reverse. A new chunk starts from the
    // frames and so settles it.
    lane_finish_change(t);
    if (t->chunk) chunk_finish(t, t->last);
    if (!t->gap) t->gap = GAP_PATH;
    t->state = THREAD_ATTACHED;
    side_drain(t);
}

FATHOM_WITHOUT_HOOKS_END
