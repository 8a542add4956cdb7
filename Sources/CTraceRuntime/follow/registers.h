// The registers of a function that calls a hook. Those that a callee saves are the function's own at the hook's first
// instruction, and again where a function that the hook was compiled to goes on in another one by a jump: there, what
// it has saved is restored. So only slow paths save them, and the fast ones cost nothing more.

#ifndef FATHOM_REGISTERS_H
#define FATHOM_REGISTERS_H

#include "../host/base.h"

#if defined(__x86_64__)

// As SAVING_REGISTERS lays them on the stack.
struct registers {
    uint64_t rbx, rbp, r12, r13, r14, r15;
    uint64_t return_address;  // of the hook
};

// Defines the function `name`, which hooks may jump to. It goes on in `target` with the same arguments, and puts a
// struct registers behind them, into the register `argument`.
#define SAVING_REGISTERS(name, target, argument)                                                                       \
    __asm__(".pushsection .text.fathom_slow, \"ax\", %progbits\n.hidden " name "\n.globl " name "\n.type " name        \
            ", %function\n.p2align 4\n" name ":\n.cfi_startproc\n"                                                     \
            "pushq %r15\n.cfi_adjust_cfa_offset 8\npushq %r14\n.cfi_adjust_cfa_offset 8\n"                             \
            "pushq %r13\n.cfi_adjust_cfa_offset 8\npushq %r12\n.cfi_adjust_cfa_offset 8\n"                             \
            "pushq %rbp\n.cfi_adjust_cfa_offset 8\npushq %rbx\n.cfi_adjust_cfa_offset 8\n"                             \
            "movq %rsp, %" argument "\nsubq $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall " target "\n"                     \
            "addq $56, %rsp\n.cfi_adjust_cfa_offset -56\nret\n.cfi_endproc\n.size " name ", . - " name                 \
            "\n.popsection\n")
#define THIRD_ARGUMENT "rdx"
#define FIFTH_ARGUMENT "r8"

// The function's register with this number in DWARF; 0: it is none of those that are known.
INTERNAL int register_value(const struct registers *registers, uint32_t number, uint64_t *value) {
    switch (number) {
    case 3: *value = registers->rbx; return 1;
    case 6: *value = registers->rbp; return 1;
    case 7: *value = (uintptr_t)(registers + 1); return 1;
    case 12: *value = registers->r12; return 1;
    case 13: *value = registers->r13; return 1;
    case 14: *value = registers->r14; return 1;
    case 15: *value = registers->r15; return 1;
    default: return 0;
    }
}

// The stack pointer of the function at its call of the hook. It is the hook's own only if the hook came here by jumps
// alone.
INTERNAL uintptr_t registers_stack_pointer(const struct registers *registers) { return (uintptr_t)(registers + 1); }

#else

// As SAVING_REGISTERS lays them on the stack. x30 is where the hook returns to.
struct registers {
    uint64_t x[12];  // x19 to x30
    uint64_t d[8];   // d8 to d15
};

#define SAVING_REGISTERS(name, target, argument)                                                                       \
    __asm__(".pushsection .text.fathom_slow, \"ax\", %progbits\n.hidden " name "\n.globl " name "\n.type " name        \
            ", %function\n.p2align 4\n" name ":\n.cfi_startproc\n"                                                     \
            ".arch_extension fp\nsub sp, sp, #160\n.cfi_adjust_cfa_offset 160\n"                                       \
            "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\n"                                   \
            "stp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n.cfi_offset 30, -72\n"         \
            "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\n"                              \
            "stp d14, d15, [sp, #144]\nmov " argument ", sp\nbl " target "\n"                                          \
            "ldr x30, [sp, #88]\nadd sp, sp, #160\n.cfi_adjust_cfa_offset -160\nret\n.cfi_endproc\n.size " name        \
            ", . - " name "\n.popsection\n")
#define THIRD_ARGUMENT "x2"
#define FIFTH_ARGUMENT "x4"

INTERNAL int register_value(const struct registers *registers, uint32_t number, uint64_t *value) {
    if (number >= 19 && number <= 29) *value = registers->x[number - 19];
    else if (number == 31) *value = (uintptr_t)(registers + 1);
    else if (number >= 72 && number <= 79) *value = registers->d[number - 72];
    else return 0;
    return 1;
}

INTERNAL uintptr_t registers_stack_pointer(const struct registers *registers) { return (uintptr_t)(registers + 1); }

#endif

#if defined(__x86_64__)

// What a function's registers hold at a sled: where it begins its arguments, and where it ends its result. The vector
// registers hold theirs, too, because the runtime uses none (host/vectors.h).
struct sled_registers {
    // As the sleds' code lays them on the stack.
    uint64_t rax, rcx, rdx, rsi, rdi, r8, r9, r10, r13;
};

INTERNAL uint64_t vector_value(uint32_t number) {
    uint64_t value = 0;
#define VECTOR(which)                                                                                                  \
    case which: __asm__ __volatile__("movq %%xmm" #which ", %0" : "=r"(value)); break;
    switch (number) { VECTOR(0) VECTOR(1) VECTOR(2) VECTOR(3) VECTOR(4) VECTOR(5) VECTOR(6) VECTOR(7) }
#undef VECTOR
    return value;
}

// The function's register with this number in DWARF, given its stack pointer; 0: it is none of those that are known.
INTERNAL int sled_register_value(const struct sled_registers *registers, uintptr_t sp, uint32_t number,
                                 uint64_t *value) {
    if (number >= 17 && number < 25) {
        *value = vector_value(number - 17);
        return 1;
    }
    switch (number) {
    case 0: *value = registers->rax; return 1;
    case 1: *value = registers->rdx; return 1;
    case 2: *value = registers->rcx; return 1;
    case 4: *value = registers->rsi; return 1;
    case 5: *value = registers->rdi; return 1;
    case 7: *value = sp; return 1;
    case 8: *value = registers->r8; return 1;
    case 9: *value = registers->r9; return 1;
    case 10: *value = registers->r10; return 1;
    case 13: *value = registers->r13; return 1;
    default: return 0;
    }
}

#else

// What a function's registers hold where it begins and ends, as the code of library calls lays them on the stack
// (entry/sled_hooks.h).
struct sled_registers {
    uint64_t x[16];     // x0 to x15
    uint64_t x18, x20;  // Swift passes `self` in the latter
    uint64_t v[8][2];   // v0 to v7
};

// The register with this number in DWARF. `sp` is a word below the stack pointer, where x86-64 has the return address.
INTERNAL int sled_register_value(const struct sled_registers *registers, uintptr_t sp, uint32_t number,
                                 uint64_t *value) {
    if (number < 16) *value = registers->x[number];
    else if (number == 18) *value = registers->x18;
    else if (number == 20) *value = registers->x20;
    else if (number == 31) *value = sp + sizeof(uintptr_t);
    else if (number >= 64 && number < 72) *value = registers->v[number - 64][0];
    else return 0;
    return 1;
}

#endif

INTERNAL uintptr_t registers_return_address(const struct registers *registers) {
#if defined(__x86_64__)
    return registers->return_address;
#else
    return registers->x[11];
#endif
}

#endif
