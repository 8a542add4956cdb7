// Calls of functions with detours. A function's stub leads here with its number on the stack, above it the return
// address (session/detours.h).

#include "../session/detours.h"
#include "place_calls.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

HOOK struct next detour_begin(uint32_t number, uintptr_t *slot, uintptr_t context,
                              const struct sled_registers *registers) {
    const struct detour *detour = &detours[number];
    place_leave_by_jump(slot);
    if (UNLIKELY(detour->has_hooks)) return place_begin_result(detour->target, detour->function, slot);
    return place_begin(detour->target, detour->function, slot, context, registers);
}

// What is jumped to at the end stands below the stack pointer then, where the kernel writes nothing (System V ABI, "red
// zone").
__asm__(
    ".pushsection .text.fathom_library, \"ax\", %progbits\n"                                                       //
    PLACE_FUNCTION("fathom_detour_entry") ".cfi_def_cfa_offset 16\n"                                               //
    PLACE_SAVE "movl 80(%rsp), %edi\nleaq 88(%rsp), %rsi\nmovq %r14, %rdx\nmovq %rsp, %rcx\ncall detour_begin\n"   //
                                          "testq %rax, %rax\njne 1f\nmovq %rdx, 80(%rsp)\n"                        //
    PLACE_RESTORE "leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\njmp *-8(%rsp)\n"                                    //
                                          "1:\n.cfi_def_cfa_offset 96\nmovq %rax, 80(%rsp)\n"                      //
    PLACE_RESTORE "leaq 96(%rsp), %rsp\n.cfi_def_cfa_offset 0\njmp *-16(%rsp)\n" PLACE_END("fathom_detour_entry")  //
    ".popsection\n");

FATHOM_WITHOUT_HOOKS_END

#endif
