// The hooks, which compiled code calls. Each hook finds out the mode and goes on in a function for it. That function is
// in modes/; for calls that leave no record, it is here; where no mode is known yet, it is in follow/aside.c.

#include "../modes/hooks.h"
#include "../modes/bare.h"
#include "../session/functions.h"
#include "../swift/tasks.h"

FATHOM_WITHOUT_HOOKS

// ---- the first instructions ---------------------------------------------------------------------------------------
//
// These are in assembly, so that the mode is known before a register is saved: where little is recorded, saving
// registers would be most of the cost. They pass on
//
//   function, call site      as the compiler passes them
//   stack pointer            of the caller, at its call of the hook
//   context (enter)          the register in which Swift passes the asynchronous context
//   return address (exit)    where the hook returns to
//
// In modes that record all calls, the assembly jumps to the mode's function. In MODE_UNKNOWN, where perhaps not even
// the thread's own memory is there, and where the process has not taken up yet what `fathom ctl` asks of it, it jumps
// to follow/aside.c. In the other modes it falls through to the C function that the compiler lays behind it in the same
// section, because a jump costs a third of what that function costs.

#define ENTRY(name) ".globl " name "\n.type " name ", %function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"
// The later modes are told apart in front of the hook, so that it compares once for all of them. What is none of them
// is greater, and says that something is asked.
#define SECTION(hook)                                                                                                  \
    ".section .text.fathom_" hook ", \"ax\", %progbits\n.p2align 5\n9:\n.cfi_startproc\n" LATER_MODES(IN_MODE, hook)   \
        JUMP " aside_" hook "\n.cfi_endproc\n.p2align 5\n"

// The lines are broken where those of the assembly are.
// clang-format off
#if defined(__x86_64__)
#define IN_MODE(number, NAME, name, condition, hook) "cmpl $" #number ", %eax\nje " #name "_" hook "\n"
#define GO_ON(hook)                                                                                                    \
    "leaq 8(%rsp), %rdx\nmovl steering(%rip), %eax\nsubl control(%rip), %eax\n" FIRST_MODE(IN_MODE, hook)                                         \
        "cmpl $" TEXT(LEAST_LATER_MODE) ", %eax\njae 9b\ntestl %eax, %eax\nje aside_" hook "\n"
#define JUMP "jmp"
#define ENTER "movq %r14, %rcx\n" GO_ON("enter")
#define EXIT "movq (%rsp), %rcx\n" GO_ON("exit")
#define EXIT_ANY GO_ON("exit_any")
#else
#define IN_MODE(number, NAME, name, condition, hook) "cmp w9, #" #number "\nb.ne 1f\nb " #name "_" hook "\n1:\n"
#define GO_ON(hook)                                                                                                    \
    "mov x2, sp\nadrp x9, steering\nldr w9, [x9, :lo12:steering]\nadrp x10, control\nldr w10, [x10, :lo12:control]\n" \
    "sub w9, w9, w10\n" FIRST_MODE(IN_MODE, hook)                            \
        "cmp w9, #" TEXT(LEAST_LATER_MODE) "\nb.hs 9b\ncbnz w9, 1f\nb aside_" hook "\n1:\n"
#define ENTER "mov x3, x22\n" GO_ON("enter")
#define EXIT "mov x3, x30\n" GO_ON("exit")
#define EXIT_ANY GO_ON("exit_any")
#define JUMP "b"
#endif
// clang-format on

_Static_assert(MODE_UNKNOWN == 0, "the assembly above takes 0 for it");
_Static_assert(offsetof(struct fathom_steering, asked) == 0 && offsetof(union control, base) == 0, "it loads these");

// CTraceSharedHooks jumps to `fathom_function_*`, whose names say nothing of profiling or exits. CTraceSwiftHooks jumps
// to `fathom_swift_*`, the hooks of the Swift compiler. That passes no function when a call begins, so the function is
// an address inside it, and it passes nothing when a call ends.
__asm__(SECTION("enter") ENTRY("__cyg_profile_func_enter") ENTRY("fathom_function_enter")                     //
        ENTRY("fathom_swift_enter") ".cfi_startproc\n" ENTER ".cfi_endproc\n"                                 //
        END("__cyg_profile_func_enter") END("fathom_function_enter") END("fathom_swift_enter")                //
        SECTION("exit") ENTRY("__cyg_profile_func_exit") ENTRY("fathom_function_leave")                       //
        ".cfi_startproc\n" EXIT ".cfi_endproc\n" END("__cyg_profile_func_exit") END("fathom_function_leave")  //
        SECTION("exit_any") ENTRY("fathom_swift_exit") ".cfi_startproc\n" EXIT_ANY ".cfi_endproc\n"           //
        END("fathom_swift_exit") ".text\n");

#define BEHIND(hook) __attribute__((used, section(".text.fathom_" hook), visibility("hidden")))

// ---- calls that leave no record -----------------------------------------------------------------------------------

INTERNAL intptr_t above(const void *address, const void *other) { return (intptr_t)address - (intptr_t)other; }

NEXT void enter_other(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    struct found found = hidden_begin(t);
    if (UNLIKELY(!is_ready(t) || !lies_below(t, sp, found.top))) return aside_enter(function, call_site, sp, context);
    // A piece of a task leaves a record at any depth, unless recording is stopped.
    if (UNLIKELY(task_runs_from(call_site) && (uint32_t)t->idle != MODE_PAUSED))
        return aside_enter(function, call_site, sp, context);
    // hidden_from is not above the end of the frames.
    if (found.top + 1 < t->hidden_from) return slow_enter(function, call_site, sp, found.settled);
    if (UNLIKELY(found.top + 1 >= t->end)) return aside_enter(function, call_site, sp, context);
    hidden_enter(function, call_site, sp, context, found);
}

// Results are asked for, and this program can have them.
INTERNAL int asks_for_results(void) {
    return (named_functions.says & FATHOM_SAYS_RESULTS) && fathom_image.hook_enters != NULL;
}

BEHIND("enter") void fathom_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    if (UNLIKELY(asks_for_results())) call_site = fathom_image.hook_enters(function, call_site);
    if (UNLIKELY(!is_ready(t))) return aside_enter(function, call_site, sp, context);
    struct found found = hidden_begin(t);
    intptr_t sign = (intptr_t)(sp - t->low);
    sign = either(sign, (intptr_t)(found.top->stack_pointer - sp));
    sign = either(sign, above(t->end, found.top + 2));
    sign = either(sign, task_code.guard);
    if (sign < 0) return enter_other(function, call_site, sp, context);
    if (found.top + 1 < t->hidden_from) return slow_enter(function, call_site, sp, found.settled);
    hidden_enter(function, call_site, sp, context, found);
}

// `is_any` is a constant: the hook does not say what its function is, and `function` is ANY_FUNCTION.
INTERNAL int is_call_of(const struct frame *call, uintptr_t function, int is_any) {
    return is_any ? is_function(call) : call->function == function;
}

INTERNAL void exit_either(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address, int is_any) {
    struct thread *t = &current;
    struct found found = hidden_begin(t);
    if (UNLIKELY(!is_ready(t) || !is_call_of(found.top, function, is_any) ||
                 !exit_fits(t, found.top, sp, return_address == call_site)))
        return aside_exit(function, call_site, sp, return_address);
    if (found.top < t->hidden_from) return slow_exit(sp, found.settled);
    hidden_exit(function, call_site, sp, return_address, found);
}
NEXT void exit_other(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    exit_either(function, call_site, sp, return_address, 0);
}
NEXT void exit_any_other(uintptr_t sp) { exit_either(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1); }

INTERNAL void leave(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address, int is_any) {
    struct thread *t = &current;
    if (UNLIKELY(!is_ready(t))) return aside_exit(function, call_site, sp, return_address);
    struct found found = hidden_begin(t);
    if (UNLIKELY(!is_call_of(found.top, function, is_any))) return aside_exit(function, call_site, sp, return_address);
    const struct frame *bound = exit_bound(found.top, return_address == call_site);
    intptr_t sign = (intptr_t)(sp - t->low);
    sign = either(sign, (intptr_t)(bound->stack_pointer - sp));
    if (sign < 0) return is_any ? exit_any_other(sp) : exit_other(function, call_site, sp, return_address);
    if (found.top < t->hidden_from) return slow_exit(sp, found.settled);
    hidden_exit(function, call_site, sp, return_address, found);
}

BEHIND("exit") void fathom_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    if (UNLIKELY(asks_for_results()) && fathom_image.hook_exits(function, call_site)) return;
    leave(function, call_site, sp, return_address, 0);
}

BEHIND("exit_any") void fathom_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function, (void)call_site;
    leave(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1);
}

FATHOM_WITHOUT_HOOKS_END
