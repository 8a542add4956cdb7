// Calls of functions with detours. A function's stub leads here with its number (session/detours.h): on the stack,
// above it the return address; on aarch64 in w16.

#include "../session/detours.h"
#include "CTraceRuntime.h"
#include "place_calls.h"

FATHOM_WITHOUT_HOOKS

NEXT struct next begin_otherwise(const struct detour *detour, struct place_frame *frame) {
    place_leave_by_jump(&frame->return_address);
    if (detour->has_hooks) return place_begin_result(detour->target, detour->function, frame);
    return place_begin(detour->target, detour->function, frame);
}

HOOK struct next detour_begin(uint32_t number, struct place_frame *frame) {
    const struct detour *detour = &detours[number];
    if (UNLIKELY(place_returns_to(frame->return_address) || detour->has_hooks)) return begin_otherwise(detour, frame);
    return place_begin(detour->target, detour->function, frame);
}

const void *fathom_frames_at(uintptr_t address, uintptr_t *low, uintptr_t *high) {
    return detours_frames(address, low, high);
}

#if defined(__x86_64__)

// What is jumped to at the end stands below the stack pointer then, where the kernel writes nothing (System V ABI, "red
// zone").
__asm__(
    ".pushsection .text.fathom_library, \"ax\", %progbits\n"                                                       //
    PLACE_FUNCTION("fathom_detour_entry") ".cfi_def_cfa_offset 16\n"                                               //
    PLACE_SAVE "movl 80(%rsp), %edi\n" PLACE_CONTEXT "movq %rsp, %rsi\ncall detour_begin\n"                        //
                                          "testq %rax, %rax\njne 1f\nmovq %rdx, 80(%rsp)\n"                        //
    PLACE_RESTORE "leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\njmp *-8(%rsp)\n"                                    //
                                          "1:\n.cfi_def_cfa_offset 96\nmovq %rax, 80(%rsp)\n"                      //
    PLACE_RESTORE "leaq 96(%rsp), %rsp\n.cfi_def_cfa_offset 0\njmp *-16(%rsp)\n" PLACE_END("fathom_detour_entry")  //
    ".popsection\n");

#else

// The same as for library calls (entry/library_calls.c).
__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"  //
        PLACE_FUNCTION("fathom_detour_entry")                     //
        PLACE_SAVE PLACE_CONTEXT
        "mov w0, w16\nmov x1, sp\nbl detour_begin\nmov x17, x0\nmov x16, x1\n" PLACE_RESTORE PLACE_GO_ON
            PLACE_END("fathom_detour_entry") ".popsection\n");

#endif

FATHOM_WITHOUT_HOOKS_END
