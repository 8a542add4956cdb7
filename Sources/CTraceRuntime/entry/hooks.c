// The hooks: what the compilers call, and the fast path of MODE_TRACE. filter.c has that of the other modes. What they
// cannot do is handed to the slow paths.

#include "hooks.h"

#include "../file/chunk.h"
#include "../host/process.h"
#include "../host/runtime.h"
#include "side.h"

FATHOM_WITHOUT_HOOKS

_Alignas(PAGE_SIZE) union control control;
__thread struct thread current;

// The thread does not know the mode, is unattached, busy, or has signal events waiting.
void hook_aside(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint64_t hook) {
    struct thread *t = &current;
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

void hook_slow(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now, uint64_t hook) {
    struct thread *t = &current;
    record_event(t, function, call_site, sp, now, hook);
    BARRIER();
    side_drain(t);
}

// ---- what the compilers call -------------------------------------------------------------------------------------
//
// In assembly, so that the mode is known before a register is saved: where little is recorded, saving registers would be
// most of the cost. Each goes on in the function of the mode, with
//
//   function, call site      as the compiler passes them
//   stack pointer            of the caller, at its call of the hook
//   context, return address  the register in which Swift passes the asynchronous context; where the hook returns to

#define ENTRY(name) ".globl " name "\n.type " name ", %function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"

#if defined(__x86_64__)
#define GO_ON(hook)                                                                                                    \
    "leaq 8(%rsp), %rdx\nmovl control(%rip), %eax\ncmpl $1, %eax\nje trace_" hook "\n"                                  \
    "cmpl $4, %eax\nje paused_" hook "\ncmpl $2, %eax\nje slow_" hook "\njmp aside_" hook "\n"
#define ENTER "movq %r14, %rcx\n" GO_ON("enter")
#define EXIT "movq (%rsp), %rcx\n" GO_ON("exit")
#define EXIT_ANY "movl $1, %edi\nxorl %esi, %esi\n" GO_ON("exit_any")
#else
#define GO_ON(hook)                                                                                                    \
    "mov x2, sp\nadrp x9, control\nldr w9, [x9, :lo12:control]\ncmp w9, #1\nb.ne 1f\nb trace_" hook "\n"              \
    "1: cmp w9, #2\nb.ne 2f\nb slow_" hook "\n2: cmp w9, #4\nb.ne 3f\nb paused_" hook "\n3: b aside_" hook "\n"
#define ENTER "mov x3, x22\n" GO_ON("enter")
#define EXIT "mov x3, x30\n" GO_ON("exit")
#define EXIT_ANY "mov x0, #1\nmov x1, #0\n" GO_ON("exit_any")
#endif
_Static_assert(MODE_TRACE == 1 && MODE_SLOW == 2 && MODE_PAUSED == 4 && ANY_FUNCTION == 1, "what is written above");

// `fathom_function_*` are what CTraceSharedHooks jumps to: names that say nothing of profiling or exits. `fathom_swift_*` are
// what CTraceSwiftHooks jumps to: the hooks of compilers that pass neither the function nor, at its end, anything.
__asm__(".text\n.p2align 5\n" ENTRY("__cyg_profile_func_enter") ENTRY("fathom_function_enter")                       //
        ENTRY("fathom_swift_enter") ".cfi_startproc\n" ENTER ".cfi_endproc\n"                                       //
        END("__cyg_profile_func_enter") END("fathom_function_enter") END("fathom_swift_enter")                       //
        ".p2align 5\n" ENTRY("__cyg_profile_func_exit") ENTRY("fathom_function_leave")                               //
        ".cfi_startproc\n" EXIT ".cfi_endproc\n" END("__cyg_profile_func_exit") END("fathom_function_leave")         //
        ".p2align 5\n" ENTRY("fathom_swift_exit") ".cfi_startproc\n" EXIT_ANY ".cfi_endproc\n"                      //
        END("fathom_swift_exit"));

// ---- no mode yet, or nothing to record into ----------------------------------------------------------------------

void aside_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    hook_aside(function, call_site, sp, context, HOOK_ENTER);
}

void aside_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    hook_aside(function, call_site, sp, 0, return_address == call_site ? HOOK_TAIL : HOOK_EXIT);
}

void aside_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    hook_aside(function, call_site, sp, 0, HOOK_EXIT);
}

// ---- MODE_TRACE --------------------------------------------------------------------------------------------------

void trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
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
    t->idle = IDLE;
    BARRIER();
    if (UNLIKELY(t->side_count)) side_drain(t);
}

// `is_any`, a constant: the hook does not say what its function is, and `function` is ANY_FUNCTION.
INTERNAL void exit_hook(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook, int is_any) {
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
    t->idle = IDLE;
    BARRIER();
    if (UNLIKELY(t->side_count)) side_drain(t);
}

void trace_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    exit_hook(function, call_site, sp, return_address == call_site ? HOOK_TAIL : HOOK_EXIT, 0);
}

void trace_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function;
    exit_hook(ANY_FUNCTION, call_site, sp, HOOK_EXIT, 1);
}

FATHOM_WITHOUT_HOOKS_END
