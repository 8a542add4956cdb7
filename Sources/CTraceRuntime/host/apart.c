#define _GNU_SOURCE
#include "apart.h"

#include "CTraceRuntimeHost.h"
#include "calls.h"

#include <sched.h>
#include <sys/wait.h>

FATHOM_WITHOUT_HOOKS

// CLONE_VM | CLONE_VFORK | CLONE_UNTRACED: the memory is shared, the thread waits until the child is through, and a
// debugger does not follow the child. No signal tells of its end, so it counts as what wait(2) calls a clone child, for
// which nobody waits who does not ask for those.
_Static_assert((CLONE_VM | CLONE_VFORK | CLONE_UNTRACED) == 0x804100, "the assembly below passes this");

// The child's id, or -errno. The child calls `look` on the stack that ends at `stack`.
long apart_start(void (*look)(void *), void *argument, void *stack) __attribute__((visibility("hidden")));
#if defined(__x86_64__)
__asm__(".text\n.hidden apart_start\n.globl apart_start\n.type apart_start, %function\napart_start:\n"
        "movq %rdi, -16(%rdx)\nmovq %rsi, -8(%rdx)\nleaq -16(%rdx), %rsi\nmovl $0x804100, %edi\n"
        "xorl %edx, %edx\nxorl %r10d, %r10d\nxorl %r8d, %r8d\nmovl $56, %eax\nsyscall\n"
        "testq %rax, %rax\njne 1f\n"
        "xorl %ebp, %ebp\npopq %rax\npopq %rdi\ncall *%rax\nxorl %edi, %edi\nmovl $60, %eax\nsyscall\nhlt\n"
        "1: ret\n.size apart_start, . - apart_start\n");
#else
__asm__(".text\n.hidden apart_start\n.globl apart_start\n.type apart_start, %function\napart_start:\n"
        "stp x0, x1, [x2, #-16]!\nmov x1, x2\nmov w0, #0x4100\nmovk w0, #0x80, lsl #16\n"
        "mov x2, #0\nmov x3, #0\nmov x4, #0\nmov x8, #220\nsvc 0\n"
        "cbnz x0, 1f\n"
        "mov x29, #0\nldp x1, x0, [sp], #16\nblr x1\nmov x0, #0\nmov x8, #93\nsvc 0\nbrk 0\n"
        "1: ret\n.size apart_start, . - apart_start\n");
#endif

int apart_call_on(void *stack, void (*look)(void *), void *argument) {
    // No handler runs in the child, which has the signals of this thread.
    uint64_t signals = system_block_signals();
    long child = apart_start(look, argument, stack);
    if (child > 0) SYSTEM(wait4, child, 0, __WCLONE, 0, 0, 0);
    system_restore_signals(signals);
    return child > 0;
}

int apart_call(void (*look)(void *), void *argument) {
    _Alignas(16) char stack[APART_STACK];
    // A stack that overflows does it here, where a handler may still come.
    for (size_t i = 0; i < sizeof stack; i += 2048) *(volatile char *)&stack[sizeof stack - 1 - i] = 0;
    return apart_call_on(stack + sizeof stack, look, argument);
}

FATHOM_WITHOUT_HOOKS_END
