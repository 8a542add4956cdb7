// What begins and ends calls whose return address tells where they are: functions with sleds, and library calls.

#ifndef FATHOM_SLED_HOOKS_H
#define FATHOM_SLED_HOOKS_H

#include "../follow/registers.h"

// What the fast paths of MODE_TRACE answer.
enum {
    SLED_DONE,
    SLED_SLOW,         // the thread was made busy, and the call has to be followed
    SLED_INTERRUPTED,  // the call is followed, and a signal handler has left events
    SLED_OTHER,        // nothing was done yet
};

// A call begins that came by a return place, and whose return address lies at `sp`; and one ends. The fast paths of
// MODE_TRACE have given another answer than SLED_DONE (sled_trace.h); in other modes, it is SLED_OTHER.
void place_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint32_t answer,
                 const struct sled_registers *registers);
// `registers` is NULL at a tail call, where the registers hold the arguments of the function that is called.
void sled_leave(uintptr_t sp, uint32_t answer, const struct sled_registers *registers);

#if defined(__x86_64__)

// For the first instructions: the registers that a call may change, but r11, in a frame of FRAME bytes, as struct
// sled_registers has them. Its r13, and r11, come behind.
#define SAVE_REGISTERS(FRAME)                                                                                          \
    "leaq -" FRAME "(%rsp), %rsp\n.cfi_adjust_cfa_offset " FRAME "\n"                                                  \
    "movq %rax, (%rsp)\nmovq %rcx, 8(%rsp)\nmovq %rdx, 16(%rsp)\nmovq %rsi, 24(%rsp)\nmovq %rdi, 32(%rsp)\n"           \
    "movq %r8, 40(%rsp)\nmovq %r9, 48(%rsp)\nmovq %r10, 56(%rsp)\n"
#define RESTORE_REGISTERS                                                                                              \
    "movq (%rsp), %rax\nmovq 8(%rsp), %rcx\nmovq 16(%rsp), %rdx\nmovq 24(%rsp), %rsi\nmovq 32(%rsp), %rdi\n"           \
    "movq 40(%rsp), %r8\nmovq 48(%rsp), %r9\nmovq 56(%rsp), %r10\n"

#else

// For the first instructions: the registers that a call may change and that are not for whoever stands between caller
// and function (x16, x17), in a frame of 288 bytes, as struct sled_registers has them. The word above them is the one
// below the caller's frame. It has x30, as on x86-64 the return address lies there. Vector registers are stored to be
// looked at, and not loaded again: the runtime uses none (host/vectors.h), and to load them would cut those of SVE.
#define SAVE_REGISTERS                                                                                                 \
    ".arch_extension fp\nsub sp, sp, #288\n.cfi_def_cfa_offset 288\nstr x30, [sp, #280]\n.cfi_offset 30, -8\n"         \
    "stp x0, x1, [sp]\nstp x2, x3, [sp, #16]\nstp x4, x5, [sp, #32]\nstp x6, x7, [sp, #48]\n"                          \
    "stp x8, x9, [sp, #64]\nstp x10, x11, [sp, #80]\nstp x12, x13, [sp, #96]\nstp x14, x15, [sp, #112]\n"              \
    "stp x18, x20, [sp, #128]\nstp q0, q1, [sp, #144]\nstp q2, q3, [sp, #176]\nstp q4, q5, [sp, #208]\n"               \
    "stp q6, q7, [sp, #240]\n"
#define RESTORE_REGISTERS                                                                                              \
    "ldp x0, x1, [sp]\nldp x2, x3, [sp, #16]\nldp x4, x5, [sp, #32]\nldp x6, x7, [sp, #48]\n"                          \
    "ldp x8, x9, [sp, #64]\nldp x10, x11, [sp, #80]\nldp x12, x13, [sp, #96]\nldp x14, x15, [sp, #112]\n"              \
    "ldr x18, [sp, #128]\n"
_Static_assert(sizeof(struct sled_registers) == 272, "the assembly knows it");

#endif

#endif
