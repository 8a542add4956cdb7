// The hooks: the fast path of MODE_TRACE. What it cannot do is handed to the slow paths.

#include "runtime.h"

FATHOM_WITHOUT_HOOKS

_Alignas(PAGE_SIZE) union control control;
__thread struct thread current;

// The register in which Swift passes the asynchronous context; C keeps it, so that at a hook's start it still holds it.
#if defined(__x86_64__)
#define READ_ASYNC_CONTEXT(variable) __asm__ __volatile__("movq %%r14, %0" : "=r"(variable))
#else
#define READ_ASYNC_CONTEXT(variable) __asm__ __volatile__("mov %0, x22" : "=r"(variable))
#endif

// The mode is not MODE_TRACE, or the thread is unattached, busy, or has signal events waiting.
SLOW void hook_aside(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint64_t hook) {
    struct thread *t = &current;
    if (control.mode == MODE_PAUSED && pause_follow(t, function, sp, call_site, hook)) return;
    if (control.mode == MODE_UNKNOWN && !runtime_ready()) return;
    if (control.mode == MODE_OFF || t->state == THREAD_ATTACHING) return;
    if (t->state == THREAD_INTERRUPTED && !t->idle) {
        if (hook == HOOK_ENTER) chunk_lose_call(t);
        return;
    }
    if (t->state == THREAD_UNATTACHED) {
        if (hook != HOOK_ENTER && hook != HOOK_MARK && hook != HOOK_COUNTER && !t->forked) return;
        if (!thread_attach(t, sp)) {
            if (hook == HOOK_ENTER) chunk_lose_call(t);
            return;
        }
    }
    if (t->state == THREAD_LATE) {
        uint64_t signals = system_block_signals();  // it has no other way to be busy
        record_event(t, function, call_site, sp, now_ticks(), hook);
        if (open_calls(t) == 0) thread_detach(t);
        system_restore_signals(signals);
        return;
    }
    if (!is_free(t)) {
        side_append(t, function, call_site, sp, hook);
        return;
    }
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    t->async_context = context;
    record_event(t, function, call_site, sp, now_ticks(), hook);
    BARRIER();
    side_drain(t);
}

// The fast path found a record that needs more than its own word. The thread is busy.
static SLOW void hook_slow(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now, uint64_t hook) {
    struct thread *t = &current;
    record_event(t, function, call_site, sp, now, hook);
    BARRIER();
    side_drain(t);
}

EXPORT void __cyg_profile_func_enter(void *called, void *site) {
    uintptr_t context;
    READ_ASYNC_CONTEXT(context);
    uintptr_t function = (uintptr_t)called, call_site = (uintptr_t)site;
    uintptr_t sp = CALLER_STACK_POINTER();
    if (UNLIKELY(control.mode != MODE_TRACE)) return hook_aside(function, call_site, sp, context, HOOK_ENTER);
    struct thread *t = &current;
    if (UNLIKELY(!is_free(t))) return hook_aside(function, call_site, sp, context, HOOK_ENTER);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    uint64_t delta = now - t->last;
    uint64_t site_offset = FATHOM_SITE_SAME;
    if (call_site != top->call_site) {
        site_offset = call_site - top->function;
        if (UNLIKELY(site_offset >= FATHOM_SITE_SAME)) goto slow;
    }
    if (UNLIKELY(delta >= FATHOM_DELTA_LIMIT || function >> 32 != t->function_base ||
                 t->cursor >= t->limit || top + 1 >= t->end || sp - t->low > top->stack_pointer - t->low)) {
    slow:
        t->async_context = context;
        return hook_slow(function, call_site, sp, now, HOOK_ENTER);
    }
    uint64_t word = 1 | delta << 1 | site_offset << 16 | (uint64_t)function << 32;
    char *cursor = t->cursor;
    __builtin_memcpy(cursor, &word, sizeof word);
    top[1] = (struct frame){function, call_site, sp, now};
    t->top = top + 1;
    t->last = now;
    t->calls++;
    t->cursor = cursor + FATHOM_ENTER_SIZE;
    fathom_store32(&t->chunk->used, (uint32_t)(cursor + FATHOM_ENTER_SIZE - (char *)(t->chunk + 1)));
    BARRIER();
    t->idle = 1;
    BARRIER();
    if (UNLIKELY(t->side_count)) side_drain(t);
}

// `is_any`, a constant: the hook does not say what its function is, and `function` is ANY_FUNCTION.
INTERNAL void exit_hook(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook, int is_any) {
    if (UNLIKELY(control.mode != MODE_TRACE)) return hook_aside(function, call_site, sp, 0, hook);
    struct thread *t = &current;
    if (UNLIKELY(!is_free(t))) return hook_aside(function, call_site, sp, 0, hook);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    uint64_t delta = now - t->last;
    if (UNLIKELY(delta >= FATHOM_DELTA_LIMIT || (is_any ? !is_function(top) : top->function != function) ||
                 t->cursor >= t->limit || !exit_fits(t, top, sp, hook)))
        return hook_slow(function, call_site, sp, now, hook);
    uint16_t unit = (uint16_t)(delta << 1);
    char *cursor = t->cursor;
    __builtin_memcpy(cursor, &unit, sizeof unit);
    t->top = top - 1;
    t->last = now;
    t->cursor = cursor + FATHOM_EXIT_SIZE;
    fathom_store32(&t->chunk->used, (uint32_t)(cursor + FATHOM_EXIT_SIZE - (char *)(t->chunk + 1)));
    BARRIER();
    t->idle = 1;
    BARRIER();
    if (UNLIKELY(t->side_count)) side_drain(t);
}

EXPORT void __cyg_profile_func_exit(void *called, void *site) {
    uint64_t hook = __builtin_return_address(0) == site ? HOOK_TAIL : HOOK_EXIT;
    exit_hook((uintptr_t)called, (uintptr_t)site, CALLER_STACK_POINTER(), hook, 0);
}

// What TraceSharedHooks jumps to: names that say nothing of profiling or exits.
EXPORT void fathom_function_enter(void *called, void *site) __attribute__((alias("__cyg_profile_func_enter")));
EXPORT void fathom_function_leave(void *called, void *site) __attribute__((alias("__cyg_profile_func_exit")));

// What TraceSwiftHooks jumps to: the hooks of compilers that pass neither the function nor, at its end, anything.
EXPORT void fathom_swift_enter(void *inside, void *site) __attribute__((alias("__cyg_profile_func_enter")));
EXPORT void fathom_swift_exit(void) { exit_hook(ANY_FUNCTION, 0, CALLER_STACK_POINTER(), HOOK_EXIT, 1); }

FATHOM_WITHOUT_HOOKS_END
