// vfork's child runs on the parent's memory until it execs or exits, and leaves its calls open there. For the parent
// that is a landing in the frame that called vfork. No C function can stand before vfork, because vfork returns twice
// into its caller's frame. The return address is kept in a register across the system call, as the C library does it,
// because the child overwrites the stack.

#ifndef CTRACERUNTIMEVFORK_H
#define CTRACERUNTIMEVFORK_H

#include <errno.h>

// The system call's result as vfork returns it, errno set on failure.
__attribute__((used, visibility("hidden"), no_instrument_function)) int fathom_vfork_result(long result) {
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return (int)result;
}

#if defined(__x86_64__)
#define FATHOM_VFORK(name)                                                                                             \
    __asm__(".text\n"                                                                                                  \
            ".globl " name "\n"                                                                                        \
            ".type " name ", @function\n" name ":\n"                                                                   \
            "    .cfi_startproc\n"                                                                                     \
            "    popq %rdi\n"                                                                                          \
            "    .cfi_adjust_cfa_offset -8\n"                                                                          \
            "    .cfi_register %rip, %rdi\n"                                                                           \
            "    movl $58, %eax\n" /* vfork */                                                                         \
            "    syscall\n"                                                                                            \
            "    pushq %rdi\n"                                                                                         \
            "    .cfi_adjust_cfa_offset 8\n"                                                                           \
            "    testq %rax, %rax\n"                                                                                   \
            "    je 1f\n"                                                                                              \
            "    pushq %rax\n"                                                                                         \
            "    .cfi_adjust_cfa_offset 8\n"                                                                           \
            "    leaq 16(%rsp), %rdi\n"                                                                                \
            "    call fathom_note_landing\n"                                                                           \
            "    popq %rdi\n"                                                                                          \
            "    .cfi_adjust_cfa_offset -8\n"                                                                          \
            "    jmp fathom_vfork_result\n"                                                                            \
            "1:  ret\n"                                                                                                \
            "    .cfi_endproc\n"                                                                                       \
            ".size " name ", .-" name "\n")
#elif defined(__aarch64__)
#define FATHOM_VFORK(name)                                                                                             \
    __asm__(".text\n"                                                                                                  \
            ".globl " name "\n"                                                                                        \
            ".type " name ", %function\n" name ":\n"                                                                   \
            "    mov x9, x30\n"     /* system calls leave x9 alone */                                                  \
            "    mov x0, #0x4111\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */                                             \
            "    mov x1, #0\n"                                                                                         \
            "    mov x8, #220\n" /* clone */                                                                           \
            "    svc #0\n"                                                                                             \
            "    mov x30, x9\n"                                                                                        \
            "    cbz x0, 1f\n"                                                                                         \
            "    stp x0, x30, [sp, #-16]!\n"                                                                           \
            "    add x0, sp, #16\n"                                                                                    \
            "    bl fathom_note_landing\n"                                                                             \
            "    ldp x0, x30, [sp], #16\n"                                                                             \
            "    b fathom_vfork_result\n"                                                                              \
            "1:  ret\n"                                                                                                \
            ".size " name ", .-" name "\n")
#endif

#endif
