// Calls of library functions. Their slots lead to stubs (session/library_slots.c), and the stubs lead here, before the
// function has run an instruction: its arguments are in registers. The call goes on by a return place
// (follow/places.h), which leads here again when the function has returned.

#include "../follow/places.h"

#include "../follow/registers.h"
#include "../host/runtime.h"
#include "../host/text.h"
#include "../modes/hooks.h"
#include "../session/library_slots.h"
#include "../session/metadata.h"
#include "CTraceRuntime.h"
#include "sled_hooks.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

// The session gets the name at the first call.
static SLOW void tell(struct library_call *call) {
    char text[FATHOM_NAME_LIMIT + 1];
    const char *parts[] = {call->name, call->version ? "@" : "", call->version ? call->version : ""};
    uint32_t size = 0;
    if (!fathom_swap32(&call->is_told, 0, 1)) return;
    for (uint32_t i = 0; i < 3; i++)
        for (const char *from = parts[i]; *from && size < FATHOM_NAME_LIMIT; from++) text[size++] = *from;
    struct fathom_library_call_item item = {.ticks = now_ticks(), .function = call->function, .text_size = size};
    struct part all[] = {ITEM_BODY(item), {text, size}};
    metadata_append(FATHOM_ITEM_LIBRARY_CALL, all, 2);
}

// Another thread, or a handler, may have bound the slot by now, and it holds what binds it no more.
static SLOW void bind(struct library_call *call, struct place *place) {
    place->binding = call;
    library_slot_binds(call);
}

static SLOW void lose(void) { __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED); }

static void end(uintptr_t sp, const struct sled_registers *registers) {
    uint32_t answer = control_mode() == MODE_TRACE && !control_is_behind() ? sled_trace_leave(sp) : SLED_OTHER;
    if (UNLIKELY(answer)) sled_leave(sp, answer, registers);
}

// Where the stub jumps to: a place, whose call goes on to the target; or the target itself, where the call is not
// recorded, and `place` is 0.
struct next {
    uintptr_t place, target;
};

HOOK struct next library_begin(struct library_call *call, uintptr_t sp, uintptr_t context,
                               const struct sled_registers *registers) {
    // Acquire: another thread may have taken the slot back.
    uintptr_t return_address = *(const uintptr_t *)sp, target = __atomic_load_n(&call->target, __ATOMIC_ACQUIRE);
    uint32_t mode = control_mode();
    if (UNLIKELY(mode == MODE_OFF)) return (struct next){0, target};
    // Relaxed: it only tells that it is worth a look.
    if (UNLIKELY(__atomic_load_n(&library_slots_binding, __ATOMIC_RELAXED))) {
        library_slots_take_back();
        target = __atomic_load_n(&call->target, __ATOMIC_ACQUIRE);
    }
    struct place *place = place_at(return_address);
    if (UNLIKELY(place)) {
        // A function that came by a place goes on in another one by a jump: it ends here.
        end(sp, NULL);
        return_address = place->return_address;
        if (UNLIKELY(place->binding)) library_slot_take_back(place->binding);
    } else {
        place = place_take(return_address, sp);
        if (UNLIKELY(!place)) {
            lose();
            return (struct next){0, target};
        }
    }
    place->target = target;
    place->binding = NULL;
    if (UNLIKELY(!call->is_told)) tell(call);
    if (UNLIKELY(call->is_lazy)) bind(call, place);
    uint32_t answer =
        mode == MODE_TRACE && !control_is_behind() ? place_trace_enter(call->function, return_address, sp) : SLED_OTHER;
    if (UNLIKELY(answer)) place_enter(call->function, return_address, sp, context, answer, registers);
    return (struct next){place_address(place), target};
}

HOOK void library_end(struct place *place, uintptr_t sp, const struct sled_registers *registers) {
    if (UNLIKELY(place->binding)) {
        library_slot_take_back(place->binding);
        place->binding = NULL;
    }
    end(sp, registers);
    place_give(place);
}

// ---- the first instructions

#define TEXT(number) AS_TEXT(number)
#define AS_TEXT(number) #number

// For every instruction of a place, the caller's address is in the struct place that the place's call refers to. With
// s = pc & -16, the place's own address, that is
//
//     return address = *(s + 6 + s32[s + 2] + 8) - 1      the operand of `call *disp32(%rip)` stands at s + 2
//     CFA            = rsp + 8 if pc - s >= 11, else rsp  behind the push, its word stands where the address did
//
// It is marked as a signal's frame, because unwinders look up the address itself then, and not the one before, where
// another place ends. They do the same with the caller's address, which is 1 less therefore, in the midst of the call.
// Numbers of registers are DWARF's for x86-64: 7 is rsp, 16 the return address. See DWARF 5, 2.5 and 6.4.2.
__asm__(
    ".pushsection .text.fathom_places, \"ax\", %progbits\n.p2align 6\n"
    ".globl place_code\n.hidden place_code\n.type place_code, %function\nplace_code:\n"
    ".cfi_startproc\n.cfi_signal_frame\n"
    // DW_CFA_def_cfa_expression: breg7 0, breg16 0, lit15, and, lit11, ge, lit3, shl, plus
    ".cfi_escape 0x0f, 11, 0x77, 0, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
    // DW_CFA_val_expression 16: breg16 0, const1s -16, and, dup, plus_uconst 2, deref_size 4, plus, plus_uconst 14,
    // deref, lit1, minus
    ".cfi_escape 0x16, 16, 16, 0x80, 0, 0x09, 0xf0, 0x1a, 0x12, 0x23, 2, 0x94, 4, 0x22, 0x23, 14, 0x06, 0x31, 0x1c\n"
    // DW_CFA_val_offset_sf would say the same of rsp that the CFA says by itself: the caller's is the CFA.
    ".set number, 0\n.rept " TEXT(PLACE_COUNT) "\n"
                                               "call *places+64*number(%rip)\n"
                                               ".byte 0x68\n.long 64*number\n"
                                               ".byte 0xe9\n.long place_leave - . - 4\n"
                                               ".set number, number + 1\n.endr\n"
                                               ".cfi_endproc\n.size place_code, . - place_code\n.popsection\n");

// A stub's struct library_call is in r11, which nobody keeps across a call. All other registers are kept at both ends:
// some calling conventions have callers rely on them.
#define SAVE                                                                                                           \
    "leaq -88(%rsp), %rsp\n.cfi_adjust_cfa_offset 88\n"                                                                \
    "movq %rax, (%rsp)\nmovq %rcx, 8(%rsp)\nmovq %rdx, 16(%rsp)\nmovq %rsi, 24(%rsp)\nmovq %rdi, 32(%rsp)\n"           \
    "movq %r8, 40(%rsp)\nmovq %r9, 48(%rsp)\nmovq %r10, 56(%rsp)\nmovq %r13, 64(%rsp)\n"
#define RESTORE                                                                                                        \
    "movq (%rsp), %rax\nmovq 8(%rsp), %rcx\nmovq 16(%rsp), %rdx\nmovq 24(%rsp), %rsi\nmovq 32(%rsp), %rdi\n"           \
    "movq 40(%rsp), %r8\nmovq 48(%rsp), %r9\nmovq 56(%rsp), %r10\n"
#define FUNCTION(name)                                                                                                 \
    ".hidden " name "\n.globl " name "\n.type " name ", %function\n.p2align 5\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

// place_leave has the distance of the place from `places` where the return address lay, and puts the latter there.
__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"                                                     //
        FUNCTION("fathom_library_entry") "endbr64\n"                                                                 //
        SAVE "movq %r11, %rdi\nleaq 88(%rsp), %rsi\nmovq %r14, %rdx\nmovq %rsp, %rcx\ncall library_begin\n"          //
                                         "movq %rdx, %r11\ntestq %rax, %rax\njne 1f\n.cfi_remember_state\n"          //
        RESTORE "leaq 88(%rsp), %rsp\n.cfi_adjust_cfa_offset -88\njmp *%r11\n.cfi_restore_state\n"                   //
                                         "1:\nmovq %rax, %r11\n"                                                     //
        RESTORE "leaq 96(%rsp), %rsp\n.cfi_adjust_cfa_offset -96\njmp *%r11\n" END("fathom_library_entry")           //
        FUNCTION("place_leave") "movq places_address(%rip), %r11\naddq (%rsp), %r11\n"                               //
                                "pushq 8(%r11)\n.cfi_adjust_cfa_offset 8\npopq (%rsp)\n.cfi_adjust_cfa_offset -8\n"  //
        SAVE "movq %r11, %rdi\nleaq 88(%rsp), %rsi\nmovq %rsp, %rdx\ncall library_end\n"                             //
        RESTORE "leaq 88(%rsp), %rsp\n.cfi_adjust_cfa_offset -88\nret\n" END("place_leave") ".popsection\n");

HOOK struct place *const places_address = places;

// For whoever detaches: where threads may return to although they are not in the midst of something here.
__attribute__((visibility("default"))) const struct {
    const char *first, *end;
} fathom_places = {place_code, place_code + PLACE_COUNT *PLACE_SIZE};

FATHOM_WITHOUT_HOOKS_END

#endif
