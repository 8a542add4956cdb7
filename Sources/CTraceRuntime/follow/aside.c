// The way from a hook that cannot go on by itself to the followers. The thread does not know the mode, is unattached or
// busy, or has events of signal handlers waiting; or what the hook reports is no ordinary call.

#include "aside.h"

#include "../host/runtime.h"
#include "../session/sleds.h"
#include "../session/steering.h"
#include "inherited.h"
#include "mode.h"
#include "process.h"
#include "registers.h"
#include "side.h"

FATHOM_WITHOUT_HOOKS

// Whether a thread is recorded from an event on, if it was not before.
static int begins(const struct thread *t, const struct event *event) {
    if (event->hook != HOOK_TOLD) return event->hook == HOOK_ENTER;
    // A thread that frees what others have allocated is known by that alone, unless it has ended already.
    return event->told.terms & TOLD_BY_PROGRAM || (event->told.terms & TOLD_OF_MEMORY && !t->serial);
}

// A function of its own, because the compiler asks for the thread's memory before everything else.
static SLOW void follow_aside(const struct event *event) {
    struct thread *t = &current;
    enum hook hook = event->hook;
    if (control_mode() == MODE_UNKNOWN && !runtime_ready()) return;
    if (UNLIKELY(control_is_behind())) steering_take();
    if (event->is_sled && sleds_wait()) return;
    if (control_mode() == MODE_OFF || t->state == THREAD_ATTACHING) return;
    if (t->state == THREAD_INTERRUPTED && !t->idle) {
        if (hook == HOOK_ENTER) any_mode(t)->lost(t, hook);
        return;
    }
    if (t->state == THREAD_UNATTACHED) {
        if (!begins(t, event) && !t->forked && !inherited_waits()) return;
        if (!thread_attach(t, event->stack_pointer)) {
            if (hook == HOOK_ENTER) any_mode(t)->lost(t, hook);
            return;
        }
    }
    if (t->state == THREAD_LATE) {
        uint64_t signals = system_block_signals();  // a LATE thread is never idle, so it cannot be made busy
        side_follow(t, event, now_ticks());
        if (open_calls(t) == 0) thread_detach(t);
        system_restore_signals(signals);
        return;
    }
    if (!is_free(t)) {
        side_append(t, event);
        return;
    }
    t->idle = 0;
    t->hook_sp = event->is_sled ? sled_hook_sp(event->stack_pointer) : event->stack_pointer;
    BARRIER();
    aside_busy_event(event, now_ticks());
}

void aside_event(const struct event *event) {
    if (!fathom_image.threads_have_memory) return;
    follow_aside(event);
}

void aside_busy_event(const struct event *event, uint64_t now) {
    struct thread *t = &current;
    side_follow(t, event, now);
    BARRIER();
    side_drain(t);
}

void aside_hook(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, enum hook hook) {
    struct event event = {sp, {{function, call_site, context, NULL}}, hook, 0};
    aside_event(&event);
}

void aside_busy_hook(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint64_t now,
                     enum hook hook) {
    aside_busy_hook_saved(function, call_site, sp, context, now, hook, NULL);
}

void aside_busy_hook_saved(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint64_t now,
                           enum hook hook, const struct registers *registers) {
    struct event event = {sp, {{function, call_site, context, registers}}, hook, 0};
    aside_busy_event(&event, now);
}

void aside_busy_end(void) { side_drain(&current); }

SAVING_REGISTERS("aside_enter", "aside_enter_saved", FIFTH_ARGUMENT);

__attribute__((used)) SLOW void aside_enter_saved(uintptr_t function, uintptr_t call_site, uintptr_t sp,
                                                  uintptr_t context, const struct registers *registers) {
    struct event event = {sp, {{function, call_site, context, registers}}, HOOK_ENTER, 0};
    aside_event(&event);
}

void aside_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    aside_hook(function, call_site, sp, 0, hook_of_exit(call_site, return_address));
}

void aside_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function, (void)call_site;
    aside_hook(ANY_FUNCTION, NO_CALL_SITE, sp, 0, HOOK_EXIT);
}

FATHOM_WITHOUT_HOOKS_END
