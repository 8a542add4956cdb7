// Calls that go on by a return place: library calls, and calls of functions with detours. They come here before the
// function has run an instruction, so its arguments are in registers; and again when it has returned.

#ifndef FATHOM_PLACE_CALLS_H
#define FATHOM_PLACE_CALLS_H

#include "../follow/places.h"
#include "../follow/process.h"
#include "../host/runtime.h"
#include "../modes/hooks.h"
#include "sled_hooks.h"

// Where the first instructions jump to: a place, whose call goes on to the target; or the target itself, where the call
// is not recorded, and `place` is 0.
struct next {
    uintptr_t place, target;
};

// What the first instructions leave on the stack.
struct place_frame {
    struct sled_registers registers;
#if defined(__x86_64__)
    uint64_t r11;
#endif
    uintptr_t context;  // the register in which Swift passes the asynchronous context
    // Where it lies on the stack, or on aarch64 the word below the caller's frame, where the first instructions have
    // put it and take it from.
    uintptr_t return_address;
};

// A call begins.
struct next place_begin(uintptr_t target, uintptr_t function, struct place_frame *frame);
// The same of a function with hooks, which tell of the call: its result is told when it returns.
struct next place_begin_result(uintptr_t target, uintptr_t function, struct place_frame *frame);
// A function that came by a place goes on in another one by a jump: it ends here. The other one finds the return
// address that it would have without a place.
void place_leave_by_jump(uintptr_t *slot);

// The code of the places, PLACE_SIZE bytes each.
extern const char place_code[PLACE_COUNT * PLACE_SIZE] __attribute__((visibility("hidden")));
// Whether an address is one that a place returns to.
INTERNAL int place_returns_to(uintptr_t address) { return address - (uintptr_t)place_code < sizeof place_code; }

// For the first instructions: all general registers are kept at both ends, because some compilers have callers rely on
// them (gcc's -fipa-ra).
#if defined(__x86_64__)
#define PLACE_SAVE SAVE_REGISTERS("80") "movq %r13, 64(%rsp)\nmovq %r11, 72(%rsp)\n"
#define PLACE_CONTEXT "movq %r14, 80(%rsp)\n"
#define PLACE_RESTORE RESTORE_REGISTERS "movq 72(%rsp), %r11\n"
#else
#define PLACE_SAVE SAVE_REGISTERS
#define PLACE_RESTORE RESTORE_REGISTERS
#define PLACE_CONTEXT "str x22, [sp, #272]\n"
// The CFI where x30 is the address that a call by a place returns to: the second instruction of the place, s + 4. The
// word at s + 12 is the distance from there to the place's return address. The callee may have signed x30 (pointer
// authentication), which changes bits that no address has (entry/place_calls.c).
//
//     return address = *(x30' + 8 + s32[x30' + 8]) - 1    x30': the lower 48 bits of x30
//
// DW_CFA_val_expression 30: breg30 0, lit16, shl, lit16, shr, plus_uconst 8, dup, deref_size 4, plus, deref, lit1,
// minus. Numbers of registers are DWARF's for aarch64.
#define PLACE_RETURNS                                                                                                  \
    ".cfi_escape 0x16, 30, 15, 0x8e, 0, 0x40, 0x24, 0x40, 0x25, 0x23, 8, 0x12, 0x94, 4, 0x22, 0x06, 0x31, 0x1c\n"
// Goes on by the place in x17, whose first instruction finds in x16 where to; or there, where x17 is 0.
#define PLACE_GO_ON                                                                                                    \
    "ldr x30, [sp, #280]\n.cfi_same_value 30\nadd sp, sp, #288\n.cfi_def_cfa_offset 0\n"                               \
    "cbz x17, 1f\nadd x30, x17, #4\n.cfi_remember_state\n" PLACE_RETURNS "br x17\n1:\n.cfi_restore_state\nbr x16\n"
#endif
#define PLACE_FUNCTION(name)                                                                                           \
    ".hidden " name "\n.globl " name "\n.type " name ", %function\n.p2align 5\n" name ":\n.cfi_startproc\n"
#define PLACE_END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

#endif
