// Calls of library functions. Their slots lead to stubs (session/library_slots.c), and the stubs lead here, before the
// function has run an instruction: its arguments are in registers. The call goes on by a return place
// (follow/places.h), which leads here again when the function has returned.

#include "../follow/places.h"

#include "../follow/process.h"
#include "../follow/registers.h"
#include "../host/runtime.h"
#include "../host/text.h"
#include "../modes/hooks.h"
#include "../session/library_slots.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "CTraceRuntime.h"
#include "sled_hooks.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

extern const char place_code[PLACE_COUNT * PLACE_SIZE] __attribute__((visibility("hidden")));

static uintptr_t address_of(const struct place *place) {
    return (uintptr_t)place_code + (uintptr_t)(place - places) * PLACE_SIZE;
}
// The place that returns to an address. NULL: it is none of a place.
static struct place *place_at(uintptr_t return_address) {
    uintptr_t distance = return_address - (uintptr_t)place_code;
    return distance < sizeof place_code ? &places[distance / PLACE_SIZE] : NULL;
}

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

// A fork's child has no buffers before it has joined the recording.
static SLOW void lose(void) {
    if (runtime.state == STATE_READY && control_mode() != MODE_UNKNOWN)
        __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED);
}

static int records_straight(void) { return control_mode() == MODE_TRACE && !control_is_behind(); }

static void end(uintptr_t sp, const struct sled_registers *registers) {
    uint32_t answer = records_straight() ? sled_trace_leave(sp) : SLED_OTHER;
    if (UNLIKELY(answer)) sled_leave(sp, answer, registers);
}

// Where the stub jumps to: a place, whose call goes on to the target; or the target itself, where the call is not
// recorded, and `place` is 0.
struct next {
    uintptr_t place, target;
};

// A function that came by a place goes on in another one by a jump: it ends here. The other one finds the return
// address that it would have without a place.
static SLOW void leave_place(uintptr_t *slot, struct place *place) {
    end((uintptr_t)slot, NULL);
    *slot = place_give(place, (uintptr_t)slot);
}

// The function is not recorded.
static SLOW struct next pass(const struct library_call *call) {
    // Of a library that was just loaded, the program asks for what it calls next.
    if (runtime.modules_stale && runtime_records()) modules_scan(LOADER_NOW);
    return (struct next){0, call->target};
}

HOOK struct next library_begin(struct library_call *call, uintptr_t *slot, uintptr_t context,
                               const struct sled_registers *registers) {
    uintptr_t sp = (uintptr_t)slot;
    struct place *place = place_at(*slot);
    if (UNLIKELY(place)) leave_place(slot, place);
    if (UNLIKELY(call->is_passed)) return pass(call);
    if (UNLIKELY(control_mode() == MODE_OFF)) return (struct next){0, call->target};
    uintptr_t return_address = *slot;
    place = place_take(return_address, sp);
    if (UNLIKELY(!place)) {
        lose();
        return (struct next){0, call->target};
    }
    place->target = call->target;
    uint32_t answer = records_straight() ? place_trace_enter(call->function, return_address, sp) : SLED_OTHER;
    if (UNLIKELY(answer)) place_enter(call->function, return_address, sp, context, answer, registers);
    // By now, a fork's child has joined the recording.
    if (UNLIKELY(!call->is_told)) tell(call);
    return (struct next){address_of(place), call->target};
}

// Returns where the call's caller goes on. The registers are as the function has left them.
HOOK uintptr_t library_end(struct place *place, uintptr_t sp, const struct sled_registers *registers) {
    uintptr_t return_address = place_give(place, sp);
    end(sp, registers);
    return return_address;
}

// ---- the first instructions

// For every instruction of a place, the caller's address is in the struct place that the place's call refers to. With
// s = pc & -32, the place's own address, that is
//
//     return address = *(s + 6 + s32[s + 2] + 8) - 1      the operand of `call *disp32(%rip)` stands at s + 2
//     CFA            = rsp, and 8 more behind each push: from s + 12, and from s + 17 on
//
// It is marked as a signal's frame, because unwinders look up the address itself then, and not the one before, where
// another place ends. They do the same with the caller's address, which is 1 less therefore, in the midst of the call.
// The caller's rsp is the CFA. Numbers of registers are DWARF's for x86-64: 7 is rsp, 16 the return address. See DWARF
// 5, 2.5 and 6.4.2.
__asm__(
    ".pushsection .text.fathom_places, \"ax\", %progbits\n.p2align 6\n"
    ".globl place_code\n.hidden place_code\n.type place_code, %function\nplace_code:\n"
    ".cfi_startproc\n.cfi_signal_frame\n"
    // DW_CFA_def_cfa_expression: breg7 0, breg16 0, lit31, and, dup, lit12, ge, swap, lit17, ge, plus, lit3, shl,
    // plus
    ".cfi_escape 0x0f, 16, 0x77, 0, 0x80, 0, 0x4f, 0x1a, 0x12, 0x3c, 0x2a, 0x16, 0x41, 0x2a, 0x22, 0x33, 0x24, 0x22\n"
    // DW_CFA_val_expression 16: breg16 0, const1s -32, and, dup, plus_uconst 2, deref_size 4, plus, plus_uconst 14,
    // deref, lit1, minus
    ".cfi_escape 0x16, 16, 16, 0x80, 0, 0x09, 0xe0, 0x1a, 0x12, 0x23, 2, 0x94, 4, 0x22, 0x23, 14, 0x06, 0x31, 0x1c\n"
    ".set number, 0\n.rept " TEXT(PLACE_COUNT) "\n"
                                               "call *places+64*number(%rip)\n"
                                               "pushq places+64*number+8(%rip)\n"
                                               ".byte 0x68\n.long 64*number\n"
                                               ".byte 0xe9\n.long place_leave - . - 4\n"
                                               ".skip 10, 0xcc\n"
                                               ".set number, number + 1\n.endr\n"
                                               ".cfi_endproc\n.size place_code, . - place_code\n.popsection\n");

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
_Static_assert(LIBRARY_STUB_SIZE == 16 && PLACE_SIZE == 32 && sizeof(struct library_call) == 48,
               "the assembly knows them");

// All registers but r11 are kept at both ends: some calling conventions have callers rely on them.
#define SAVE SAVE_REGISTERS("88") "movq %r13, 64(%rsp)\n"
#define FUNCTION(name)                                                                                                 \
    ".hidden " name "\n.globl " name "\n.type " name ", %function\n.p2align 5\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

// library_entry drops the return address, which the place has. place_leave has, above the return address, the distance
// of the place from `places`.
__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"                                                      //
        FUNCTION("library_entry")                                                                                     //
        SAVE "imulq $48, %r11, %rdi\naddq library_calls_address(%rip), %rdi\nleaq 88(%rsp), %rsi\nmovq %r14, %rdx\n"  //
             "movq %rsp, %rcx\ncall library_begin\n"                                                                  //
             "movq %rdx, %r11\ntestq %rax, %rax\njne 1f\n"                                                            //
        RESTORE_REGISTERS "leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\njmp *%r11\n"                                   //
             "1:\n.cfi_def_cfa_offset 96\nmovq %rax, %r11\n"                                                          //
        RESTORE_REGISTERS "leaq 96(%rsp), %rsp\n.cfi_def_cfa_offset 0\njmp *%r11\n" END("library_entry")              //
        FUNCTION("place_leave") ".cfi_def_cfa_offset 16\n"                                                            //
                                "popq %r11\n.cfi_def_cfa_offset 8\naddq places_address(%rip), %r11\n"                 //
        SAVE "movq %r11, %rdi\nleaq 88(%rsp), %rsi\nmovq %rsp, %rdx\ncall library_end\nmovq %rax, 88(%rsp)\n"         //
        RESTORE_REGISTERS "leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\nret\n" END("place_leave") ".popsection\n");

HOOK struct place *const places_address = places;
HOOK struct library_call *const library_calls_address = library_calls;

// For whoever detaches: where threads may return to although they are not in the midst of something here.
__attribute__((visibility("default"))) const struct {
    const char *first, *end;
} fathom_places = {place_code, place_code + PLACE_COUNT *PLACE_SIZE};

FATHOM_WITHOUT_HOOKS_END

#endif
