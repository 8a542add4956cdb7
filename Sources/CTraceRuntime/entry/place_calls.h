// Calls that go on by a return place: library calls, and calls of functions with detours. They come here before the
// function has run an instruction, so its arguments are in registers; and again when it has returned.

#ifndef FATHOM_PLACE_CALLS_H
#define FATHOM_PLACE_CALLS_H

#include "../follow/places.h"
#include "../follow/process.h"
#include "../host/runtime.h"
#include "../modes/hooks.h"
#include "sled_hooks.h"

#if defined(__x86_64__)

// Where the first instructions jump to: a place, whose call goes on to the target; or the target itself, where the call
// is not recorded, and `place` is 0.
struct next {
    uintptr_t place, target;
};

// A call begins whose return address lies in `slot`.
struct next place_begin(uintptr_t target, uintptr_t function, uintptr_t *slot, uintptr_t context,
                        const struct sled_registers *registers);
// The same of a function with hooks, which tell of the call: its result is told when it returns.
struct next place_begin_result(uintptr_t target, uintptr_t function, uintptr_t *slot);
// A function that came by a place goes on in another one by a jump: it ends here. The other one finds the return
// address that it would have without a place.
void place_leave_by_jump(uintptr_t *slot);

// For the first instructions: all general registers are kept at both ends, because some compilers have callers rely on
// them (gcc's -fipa-ra).
#define PLACE_SAVE SAVE_REGISTERS("80") "movq %r13, 64(%rsp)\nmovq %r11, 72(%rsp)\n"
#define PLACE_RESTORE RESTORE_REGISTERS "movq 72(%rsp), %r11\n"
#define PLACE_FUNCTION(name)                                                                                           \
    ".hidden " name "\n.globl " name "\n.type " name ", %function\n.p2align 5\n" name ":\n.cfi_startproc\n"
#define PLACE_END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

#endif

#endif
