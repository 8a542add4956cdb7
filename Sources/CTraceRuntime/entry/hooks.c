// The hooks, which the compilers call. Each goes on in the function of its mode, in modes/. Functions for no mode are
// here.

#include "../follow/aside.h"
#include "../modes/hooks.h"

FATHOM_WITHOUT_HOOKS

// ---- what the compilers call -------------------------------------------------------------------------------------
//
// The hooks are in assembly, so that the mode is known before a register is saved: where little is recorded, saving
// registers would be most of the cost. Each goes on in the function of the mode, with
//
//   function, call site      as the compiler passes them
//   stack pointer            of the caller, at its call of the hook
//   context, return address  the register in which Swift passes the asynchronous context; where the hook returns to

#define ENTRY(name) ".globl " name "\n.type " name ", %function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"

#if defined(__x86_64__)
#define IN_MODE(number, NAME, name, hook) "cmpl $" #number ", %eax\nje " #name "_" hook "\n"
#define GO_ON(hook) "leaq 8(%rsp), %rdx\nmovl control(%rip), %eax\n" MODES(IN_MODE, hook) "jmp aside_" hook "\n"
#define ENTER "movq %r14, %rcx\n" GO_ON("enter")
#define EXIT "movq (%rsp), %rcx\n" GO_ON("exit")
#define EXIT_ANY "movl $1, %edi\nxorl %esi, %esi\n" GO_ON("exit_any")
#else
#define IN_MODE(number, NAME, name, hook) "cmp w9, #" #number "\nb.ne 1f\nb " #name "_" hook "\n1:\n"
#define GO_ON(hook)                                                                                                    \
    "mov x2, sp\nadrp x9, control\nldr w9, [x9, :lo12:control]\n" MODES(IN_MODE, hook) "b aside_" hook "\n"
#define ENTER "mov x3, x22\n" GO_ON("enter")
#define EXIT "mov x3, x30\n" GO_ON("exit")
#define EXIT_ANY "mov x0, #1\nmov x1, #0\n" GO_ON("exit_any")
#endif
_Static_assert(ANY_FUNCTION == 1, "what is written above");

// CTraceSharedHooks jumps to `fathom_function_*`, whose names say nothing of profiling or exits. CTraceSwiftHooks jumps
// to `fathom_swift_*`, the hooks of compilers that do not pass the function and, at its end, pass nothing.
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

FATHOM_WITHOUT_HOOKS_END
