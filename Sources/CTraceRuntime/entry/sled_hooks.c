// What open sleds lead to (session/sleds.c opens them). A sled stands where compiled code expects no call: at a
// function's first instruction its arguments are in registers, and at its last one its result. So unlike a hook, a sled
// saves all registers that a call may change.
//
// General registers suffice, because the runtime uses no others (host/vectors.h).

#include "../session/sleds.h"

#include "../follow/aside.h"
#include "../follow/follow.h"
#include "../follow/pause.h"
#include "../follow/registers.h"
#include "../follow/side.h"
#include "../follow/thread.h"
#include "../modes/hooks.h"
#include "../record/budget.h"
#include "../session/functions.h"
#include "sled_trace.h"

FATHOM_WITHOUT_HOOKS

// ---- the fast paths

#if defined(__x86_64__)

HOOK uint32_t sled_trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    return trace_begin(&current, function, call_site, sp, 0);
}

// Where a sled ends from which a function may come again: the function, and whether its call has begun already.
INTERNAL uintptr_t function_at(uintptr_t end) { return end - SLED_SIZE - sled_distance(end); }
INTERNAL int has_begun(const struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    if (!is_free(t) || t->closings != runtime.sled_closings || t->state != THREAD_ATTACHED) return 0;
    return t->top->function == function && t->top->call_site == call_site && frame_sp(t->top) == sp;
}

HOOK uint32_t sled_trace_enter_again(uintptr_t end, uintptr_t call_site, uintptr_t sp) {
    struct thread *t = &current;
    uintptr_t function = function_at(end);
    return has_begun(t, function, call_site, sp) ? SLED_DONE : trace_begin(t, function, call_site, sp, 0);
}

#endif

HOOK uint32_t sled_trace_leave(uintptr_t sp) { return trace_end(&current, sp); }

// ---- everything else

void fathom_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context);
void fathom_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp);

// All sleds were closed and opened again. Nobody knows which of the open calls have ended meanwhile, so all of them end
// at the time at which the sleds were closed. Where recording was stopped then, too, they have ended by that.
static SLOW void forget_calls(struct thread *t, uintptr_t sp) {
    uint32_t closings = fathom_load32(&runtime.sled_closings);
    if (t->state != THREAD_ATTACHED || !is_free(t)) return;
    t->idle = 0;
    t->hook_sp = sled_hook_sp(sp);
    BARRIER();
    if (runtime.is_armed) pause_catch_up(t);
    else pause_settle(t, NULL);
    thread_expect_valid(t);
    // Relaxed: the load of the count acquired it. If the sleds were closed once more by now, the later time is as good.
    uint64_t closed = __atomic_load_n(&runtime.sleds_closed, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < t->lane_count; i++) {
        if (top_of(t, &t->lanes[i]) == t->lanes[i].frames) continue;
        lane_run(t, &t->lanes[i]);
        ending_unwind(t, open_calls(t), closed < t->last ? t->last : closed);
    }
    if (runtime.is_armed) pause_settle(t, NULL);
    thread_expect_valid(t);
    t->closings = closings;
    BARRIER();
    side_drain(t);
}

#define ENTER_IN(number, NAME, name, condition, extra)                                                                 \
    case MODE_##NAME:                                                                                                  \
        return name##_enter(function, call_site, sp, context);
#define LEAVE_IN(number, NAME, name, condition, extra)                                                                 \
    case MODE_##NAME: return name##_exit_any(ANY_FUNCTION, NO_CALL_SITE, sp);

// Whether options ask for the values in the registers: the arguments of a function that begins, or its result.
INTERNAL int asks_for_values(uintptr_t function, uint32_t what) {
    return (named_functions.says & what) && (functions_say(function) & what);
}

INTERNAL void enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint32_t answer,
                    const struct sled_registers *registers, uint32_t is_sled) {
    struct thread *t = &current;
    if (!(is_sled & IS_PLACE)) is_sled |= (uint32_t)(sled_end(sp) - function) << IS_SLED_SHIFT;
    struct event event = {sp, {{function, call_site, context, registers}}, HOOK_ENTER, is_sled};
    if (answer == SLED_SLOW) return aside_busy_event(&event, now_ticks());
    if (answer == SLED_INTERRUPTED) return aside_busy_end();
    if (UNLIKELY(t->closings != runtime.sled_closings)) forget_calls(t, sp);
    if (UNLIKELY(sleds_wait())) return aside_event(&event);
    if (!is_free(t) || control_is_behind() || t->state != THREAD_ATTACHED || runtime.closes_functions ||
        frame_sp(t->top) < sp + sizeof(uintptr_t))
        return aside_event(&event);
    switch (control_mode()) {
        LATER_MODES(ENTER_IN, )
    case MODE_SLOW:
        if (asks_for_values(function, FATHOM_SAYS_ARGUMENTS)) return aside_event(&event);
        return fathom_enter(function, call_site, sp, context);
    case MODE_PAUSED: return fathom_enter(function, call_site, sp, context);
    default: return aside_event(&event);
    }
}

void place_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint32_t answer,
                 const struct sled_registers *registers) {
    enter(function, call_site, sp, context, answer, registers, IS_SLED | IS_PLACE);
}

#if defined(__x86_64__)

HOOK void sled_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint32_t answer,
                     const struct sled_registers *registers) {
    enter(function, call_site, sp, context, answer, registers, IS_SLED);
}

HOOK void sled_enter_again(uintptr_t end, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint32_t answer,
                           const struct sled_registers *registers) {
    uintptr_t function = function_at(end);
    if (answer == SLED_OTHER && has_begun(&current, function, call_site, sp)) return;
    enter(function, call_site, sp, context, answer, registers, IS_SLED_AGAIN);
}

#endif

HOOK void sled_leave(uintptr_t sp, uint32_t answer, const struct sled_registers *registers) {
    struct thread *t = &current;
    struct event event = {sp, {{ANY_FUNCTION, NO_CALL_SITE, 0, registers}}, HOOK_EXIT, 1};
    if (answer == SLED_SLOW) return aside_busy_event(&event, now_ticks());
    if (answer == SLED_INTERRUPTED) return aside_busy_end();
    if (UNLIKELY(t->closings != runtime.sled_closings)) forget_calls(t, sp);
    if (UNLIKELY(sleds_wait())) return aside_event(&event);
    if (!is_free(t) || control_is_behind() || t->state != THREAD_ATTACHED) return aside_event(&event);
    if (frame_sp(t->top) != sp || !is_function(t->top)) {
        if (!was_closed(t, t->top, sp)) return aside_event(&event);
        if (runtime.closes_functions) budget_look_at_ends(t, sled_hook_sp(sp));
        return;
    }
    switch (control_mode()) {
        LATER_MODES(LEAVE_IN, )
    case MODE_SLOW:
        if (registers && asks_for_values(t->top->function, FATHOM_SAYS_RESULTS)) return aside_event(&event);
        return fathom_exit_any(ANY_FUNCTION, NO_CALL_SITE, sp);
    case MODE_PAUSED: return fathom_exit_any(ANY_FUNCTION, NO_CALL_SITE, sp);
    default: return aside_event(&event);
    }
}

#if defined(__x86_64__)

// ---- the first instructions

// r11 is one of those that have to stay: clang's indirect tail calls have their target there.
#define SAVE(FRAME) SAVE_REGISTERS(FRAME) "movq %r11, 72(%rsp)\n"
#define RESTORE(FRAME)                                                                                                 \
    RESTORE_REGISTERS "movq 72(%rsp), %r11\nleaq " FRAME "(%rsp), %rsp\n.cfi_adjust_cfa_offset -" FRAME "\nret\n"
// Jumps to `other` where the mode is not MODE_TRACE, and to `off` where nothing is recorded any more. Leaves an answer
// for the former in eax.
#define MODE(other, off)                                                                                               \
    "movl steering(%rip), %eax\nsubl control(%rip), %eax\ncmpl $1, %eax\nje 1f\ncmpl $3, %eax\nje " off "\n"           \
    "movl $3, %eax\njmp " other "\n1:\n"
_Static_assert(MODE_TRACE == 1 && MODE_OFF == 3 && SLED_OTHER == 3 && SLED_DONE == 0, "the assembly knows them");

#define FUNCTION(name)                                                                                                 \
    ".hidden " name "\n.globl " name "\n.type " name ", %function\n.p2align 5\n" name ":\n.cfi_startproc\nendbr64\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

// The sled has called this. Above the sled's return address lies that of its function. `behind` is the distance from
// the function's beginning to the sled's end; 0 passes the latter on.
#define ARGUMENTS(behind) "movq 80(%rsp), %rdi\nsubq $" behind ", %rdi\nmovq 88(%rsp), %rsi\nleaq 88(%rsp), %rdx\n"
#define ENTER(name, behind, which)                                                                                     \
    FUNCTION(name)                                                                                                     \
    SAVE("80")                                                                                                         \
    MODE("7f", "8f")                                                                                                   \
    ARGUMENTS(behind)                                                                                                  \
    "call sled_trace_enter" which "\ntestl %eax, %eax\njne 7f\n"                                                       \
    "8:\n.cfi_remember_state\n" RESTORE(                                                                               \
        "80") ".cfi_restore_state\n"                                                                                   \
              "7:\n" ARGUMENTS(behind) "movq %r13, 64(%rsp)\nmovq %r14, %rcx\nmovl %eax, %r8d\nmovq %rsp, %r9\n"       \
                                       "call sled_enter" which "\njmp 8b\n" END(name)

// Where a function's call began when its sled was closed, its end returns at once: the innermost open call lies above
// it, and the thread is in no hook. What was_closed tests, with what is free where a function returns: r11 and the
// flags.
#define PASS                                                                                                           \
    "movq current@gottpoff(%rip), %r11\ncmpq $0, %fs:(%r11)\nje 6f\ncmpl $0, %fs:8(%r11)\njne 6f\n"                    \
    "cmpq %rsp, %fs:40(%r11)\nja 6f\nmovq %fs:16(%r11), %r11\nmovq 24(%r11), %r11\nsubq %rsp, %r11\njb 6f\n"           \
    "cmpq $8, %r11\njb 6f\nmovq current@gottpoff(%rip), %r11\nsubl $1, %fs:60(%r11)\njb 6f\nret\n6:\n"
_Static_assert(offsetof(struct thread, idle) == 0 && offsetof(struct thread, side_count) == 8 &&
                   offsetof(struct thread, top) == 16 && offsetof(struct thread, low) == 40 &&
                   offsetof(struct thread, ends) == 60 && offsetof(struct frame, stack_pointer) == 24 &&
                   FRAME_FLAGS == 7,
               "the assembly knows them");

// The function's return address lies `place` bytes above the frame. `pass` comes before anything is saved.
#define LEAVE(name, frame, place, pass, save, restore, registers)                                                      \
    FUNCTION(name)                                                                                                     \
    pass SAVE(frame)                                                                                                   \
    save MODE("7f", "8f") "leaq " place "(%rsp), %rdi\ncall sled_trace_leave\ntestl %eax, %eax\njne 7f\n"              \
                          "8:\n.cfi_remember_state\n" restore                                                          \
                          RESTORE(frame) ".cfi_restore_state\n"                                                        \
                                         "7:\nleaq " place "(%rsp), %rdi\nmovl %eax, %esi\n" registers                 \
                                         "call sled_leave\njmp 8b\n" END(name)

// clang before 17 puts a tail call's sled in front of a conditional jump, so the flags have to stay.
#define SAVE_FLAGS "lahf\nseto %al\nmovq %rax, 80(%rsp)\n"
#define RESTORE_FLAGS "movq 80(%rsp), %rax\naddb $127, %al\nsahf\n"

// sled_stub_leave comes last: a sled jumps to it, and it returns to the caller of the sled's function.
__asm__(".pushsection .text.fathom_sleds, \"ax\", %progbits\n"                     //
        ENTER("sled_stub_enter_0", "11", "") ENTER("sled_stub_enter_1", "12", "")  //
        ENTER("sled_stub_enter_4", "15", "") ENTER("sled_stub_enter_5", "16", "")  //
        ENTER("sled_stub_enter_again", "0", "_again")
            LEAVE("sled_stub_tail", "96", "104", "", SAVE_FLAGS, RESTORE_FLAGS, "xorl %edx, %edx\n")  //
        LEAVE("sled_stub_leave", "88", "88", PASS, "", "", "movq %r13, 64(%rsp)\nmovq %rsp, %rdx\n") ".popsection\n");

#define DECLARE_STUB(name) HOOK void sled_stub_##name(void);
SLED_STUBS(DECLARE_STUB)
#define TARGET(name) (uintptr_t) sled_stub_##name,
const uintptr_t sled_targets[SLED_STUB_COUNT] = {SLED_STUBS(TARGET)};

#endif

FATHOM_WITHOUT_HOOKS_END
