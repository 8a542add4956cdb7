// Calls of library functions. Their slots lead to stubs (session/library_slots.c), and the stubs lead here.

#include "../host/text.h"
#include "../session/library_slots.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "CTraceRuntime.h"
#include "place_calls.h"

FATHOM_WITHOUT_HOOKS

_Static_assert(LIBRARY_STUB_SIZE == 16 && sizeof(struct library_call) == 48, "the assembly knows them");

// The session gets the name at the first call.
static SLOW void tell(struct library_call *call) {
    char text[FATHOM_NAME_LIMIT + 1];
    const char *parts[] = {call->name, call->version ? "@" : "", call->version ? call->version : ""};
    uint32_t size = 0;
    if (!runtime_records() || !fathom_swap32(&call->is_told, 0, 1)) return;
    for (uint32_t i = 0; i < 3; i++)
        for (const char *from = parts[i]; *from && size < FATHOM_NAME_LIMIT; from++) text[size++] = *from;
    struct fathom_library_call_item item = {.ticks = now_ticks(), .function = call->function, .text_size = size};
    struct part all[] = {ITEM_BODY(item), {text, size}};
    metadata_append(FATHOM_ITEM_LIBRARY_CALL, all, 2);
}

// The function is not recorded.
static SLOW struct next pass(const struct library_call *call) {
    // Of a library that was just loaded, the program asks for what it calls next.
    if (runtime.modules_stale && runtime_records()) modules_scan(LOADER_NOW);
    return (struct next){0, call->target};
}

NEXT struct next begin_otherwise(struct library_call *call, struct place_frame *frame) {
    place_leave_by_jump(&frame->return_address);
    if (call->is_passed) return pass(call);
    struct next next = place_begin(call->target, call->function, frame);
    // By now, a fork's child has joined the recording.
    if (!call->is_told && next.place) tell(call);
    return next;
}

HOOK struct next library_begin(struct library_call *call, struct place_frame *frame) {
    if (UNLIKELY(place_returns_to(frame->return_address) || call->is_passed || !call->is_told))
        return begin_otherwise(call, frame);
    return place_begin(call->target, call->function, frame);
}

// ---- the first instructions

#if defined(__x86_64__)

// A stub leaves its number in r11, which nobody keeps across a call.
__asm__(".pushsection .text.fathom_stubs, \"ax\", %progbits\n.p2align 6\n"
        ".globl fathom_library_stubs\n.hidden fathom_library_stubs\n.type fathom_library_stubs, %function\n"
        "fathom_library_stubs:\n.cfi_startproc\n"
        ".set number, 0\n.rept " TEXT(
            LIBRARY_CALL_COUNT) "\n"
                                "endbr64\n.byte 0x41, 0xbb\n.long number\n.byte 0xe9\n.long library_entry - . - "
                                "4\n.byte 0xcc\n"
                                ".set number, number + 1\n.endr\n"
                                ".cfi_endproc\n.size fathom_library_stubs, . - fathom_library_stubs\n.popsection\n");
// library_entry drops the return address, which the place has. Nobody relies on r11 here: the dynamic linker changes
// it.
#define SAVE SAVE_REGISTERS("88") "movq %r13, 64(%rsp)\n"
__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"                                                //
        PLACE_FUNCTION("library_entry")                                                                         //
        SAVE PLACE_CONTEXT "imulq $48, %r11, %rdi\naddq library_calls_address(%rip), %rdi\n"                    //
                           "movq %rsp, %rsi\ncall library_begin\n"                                              //
                           "movq %rdx, %r11\ntestq %rax, %rax\njne 1f\n"                                        //
        RESTORE_REGISTERS "leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\njmp *%r11\n"                             //
                           "1:\n.cfi_def_cfa_offset 96\nmovq %rax, %r11\n"                                      //
        RESTORE_REGISTERS "leaq 96(%rsp), %rsp\n.cfi_def_cfa_offset 0\njmp *%r11\n" PLACE_END("library_entry")  //
        ".popsection\n");

HOOK struct library_call *const library_calls_address = library_calls;

#else

// A stub leaves its number in x16, which is nobody's on the way to a function, as x17.
__asm__(".pushsection .text.fathom_stubs, \"ax\", %progbits\n.p2align 6\n"
        ".globl fathom_library_stubs\n.hidden fathom_library_stubs\n.type fathom_library_stubs, %function\n"
        "fathom_library_stubs:\n.cfi_startproc\n"
        ".set number, 0\n.rept " TEXT(
            LIBRARY_CALL_COUNT) "\n"
                                "hint #34\nmov w16, #number\nb library_entry\nbrk #0\n"  // bti c
                                ".set number, number + 1\n.endr\n"
                                ".cfi_endproc\n.size fathom_library_stubs, . - fathom_library_stubs\n.popsection\n");

__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"  //
        PLACE_FUNCTION("library_entry")                           //
        PLACE_SAVE PLACE_CONTEXT
        "mov w17, #48\nadrp x0, library_calls\nadd x0, x0, :lo12:library_calls\numaddl x0, w16, w17, x0\n"
        "mov x1, sp\nbl library_begin\nmov x17, x0\nmov x16, x1\n"  //
        PLACE_RESTORE PLACE_GO_ON PLACE_END("library_entry") ".popsection\n");

#endif

void *fathom_stub_target(void *address) {
    uintptr_t offset = (uintptr_t)address - (uintptr_t)fathom_library_stubs;
    if (offset >= (uintptr_t)LIBRARY_CALL_COUNT * LIBRARY_STUB_SIZE) return address;
    return (void *)library_calls[offset / LIBRARY_STUB_SIZE].target;
}

FATHOM_WITHOUT_HOOKS_END
