#include "loading.h"

#include "../file/functions.h"
#include "../file/modules.h"
#include "../host/runtime.h"

FATHOM_WITHOUT_HOOKS

// How long libraries take to be mapped at most. A thread that has called dlopen may make no call any more that tells
// that dlopen has returned, and until this time is over, the hooks of all others take a microsecond.
#define PATIENCE 1000000000u  // ns

uint32_t loading_threads;
static uint64_t deadline;

void loading_begin(struct thread *t, uintptr_t sp) {
    if (!named_functions.says || t->loading_sp) return;
    // Relaxed: a deadline that is read too early or too late changes little.
    __atomic_store_n(&deadline, system_monotonic_ns() + PATIENCE, __ATOMIC_RELAXED);
    t->loading_sp = sp;
    fathom_add32(&loading_threads, 1);
}

void loading_look(struct thread *t, const struct event *event) {
    if (!fathom_load32(&loading_threads) || !event || event->hook != HOOK_ENTER) return;
    // What dlopen calls lies below its frame, and what its caller calls next does not.
    int has_returned = t->loading_sp && event->stack_pointer > t->loading_sp;
    int is_late = system_monotonic_ns() > __atomic_load_n(&deadline, __ATOMIC_RELAXED);
    if (has_returned || is_late || !modules_hold(&event->call.function, 1)) {
        if (!modules_scan(LOADER_NOW) && !is_late) return;  // the next call looks again
    }
    if (is_late) fathom_store32(&loading_threads, 0);
    uint32_t threads = fathom_load32(&loading_threads);
    while (has_returned && threads && !fathom_swap32(&loading_threads, threads, threads - 1))
        threads = fathom_load32(&loading_threads);
    if (has_returned || is_late) t->loading_sp = 0;
}

FATHOM_WITHOUT_HOOKS_END
