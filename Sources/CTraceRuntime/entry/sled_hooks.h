// What begins and ends calls whose return address tells where they are: functions with sleds, and library calls.

#ifndef FATHOM_SLED_HOOKS_H
#define FATHOM_SLED_HOOKS_H

#include "../follow/registers.h"

#if defined(__x86_64__)

// What the fast paths of MODE_TRACE answer.
enum {
    SLED_DONE,
    SLED_SLOW,         // the thread was made busy, and the call has to be followed
    SLED_INTERRUPTED,  // the call is followed, and a signal handler has left events
    SLED_OTHER,        // nothing was done yet
};

// A call begins whose return address lies at `sp`, and ends. Of the pairs, the first is for MODE_TRACE alone; the
// second one goes on where the first has given another answer than SLED_DONE, and stands alone in other modes, with
// SLED_OTHER.
uint32_t place_trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp);
void place_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint32_t answer,
                 const struct sled_registers *registers);
uint32_t sled_trace_leave(uintptr_t sp);
// `registers` is NULL at a tail call, where the registers hold the arguments of the function that is called.
void sled_leave(uintptr_t sp, uint32_t answer, const struct sled_registers *registers);

// For the first instructions: the registers that a call may change, but r11, in a frame of FRAME bytes, as struct
// sled_registers has them. Its r13, and r11, come behind.
#define SAVE_REGISTERS(FRAME)                                                                                          \
    "leaq -" FRAME "(%rsp), %rsp\n.cfi_adjust_cfa_offset " FRAME "\n"                                                  \
    "movq %rax, (%rsp)\nmovq %rcx, 8(%rsp)\nmovq %rdx, 16(%rsp)\nmovq %rsi, 24(%rsp)\nmovq %rdi, 32(%rsp)\n"           \
    "movq %r8, 40(%rsp)\nmovq %r9, 48(%rsp)\nmovq %r10, 56(%rsp)\n"
#define RESTORE_REGISTERS                                                                                              \
    "movq (%rsp), %rax\nmovq 8(%rsp), %rcx\nmovq 16(%rsp), %rdx\nmovq 24(%rsp), %rsi\nmovq 32(%rsp), %rdi\n"           \
    "movq 40(%rsp), %r8\nmovq 48(%rsp), %r9\nmovq 56(%rsp), %r10\n"

#endif

#endif
