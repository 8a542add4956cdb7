#include "place_calls.h"

#include "../follow/aside.h"
#include "../host/text.h"
#include "CTraceRuntime.h"

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

// The call's exit hook has come, and left its end for now, when there is a result. It is as if the hook was jumped to.
static SLOW void end_hooked(const struct place *place, uintptr_t sp, const struct sled_registers *registers) {
    if (place->hooks != PLACE_ENDED) return;
    struct event event = {sp + sizeof sp, {{place->function, place->return_address, 0, registers}}, HOOK_TAIL, 0};
    aside_event(&event);
}

static void end_call(const struct place *place, uintptr_t sp, const struct sled_registers *registers) {
    if (UNLIKELY(place->function) && place_is_of(place, sp)) end_hooked(place, sp, registers);
    else end(sp, registers);
}

static SLOW void leave(uintptr_t *slot, struct place *place) {
    end_call(place, (uintptr_t)slot, NULL);
    *slot = place_give(place, (uintptr_t)slot);
}

void place_leave_by_jump(uintptr_t *slot) {
    struct place *place = place_at(*slot);
    if (UNLIKELY(place)) leave(slot, place);
}

void fathom_note_jump(uintptr_t *slot) { place_leave_by_jump(slot); }

struct next place_begin(uintptr_t target, uintptr_t function, uintptr_t *slot, uintptr_t context,
                        const struct sled_registers *registers) {
    uintptr_t sp = (uintptr_t)slot, return_address = *slot;
    if (UNLIKELY(control_mode() == MODE_OFF)) return (struct next){0, target};
    struct place *place = place_take(return_address, sp);
    if (UNLIKELY(!place)) {
        lose();
        return (struct next){0, target};
    }
    place->target = target;
    place->function = 0;
    uint32_t answer = records_straight() ? place_trace_enter(function, return_address, sp) : SLED_OTHER;
    if (UNLIKELY(answer)) place_enter(function, return_address, sp, context, answer, registers);
    return (struct next){address_of(place), target};
}

// ---- functions with hooks

struct next place_begin_result(uintptr_t target, uintptr_t function, uintptr_t *slot) {
    struct place *place = control_mode() == MODE_OFF ? NULL : place_take(*slot, (uintptr_t)slot);
    if (!place) return (struct next){0, target};
    place->target = target;
    place->function = function;
    place->hooks = 0;
    return (struct next){address_of(place), target};
}

// The hooks of such a function, and of those that were inlined into it, see the place where it returns to.

uintptr_t fathom_hook_enters(uintptr_t function, uintptr_t call_site) {
    struct place *place = place_at(call_site);
    if (!place) return call_site;
    // One that was inlined into itself has its hooks twice.
    if (place->function == function && place->hooks != PLACE_ENDED) place->hooks++;
    return place->return_address;
}

int fathom_hook_exits(uintptr_t function, uintptr_t call_site) {
    struct place *place = place_at(call_site);
    if (!place || place->function != function || place->hooks == PLACE_ENDED || !place->hooks) return 0;
    if (place->hooks > 1) {
        place->hooks--;
        return 0;
    }
    place->hooks = PLACE_ENDED;
    return 1;
}

// Returns where the call's caller goes on. The registers are as the function has left them.
HOOK uintptr_t place_end(struct place *place, uintptr_t sp, const struct sled_registers *registers) {
    if (UNLIKELY(place->function)) {
        end_call(place, sp, registers);
        return place_give(place, sp);
    }
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

_Static_assert(PLACE_SIZE == 32, "the assembly knows it");

// place_leave finds, below the return address, the distance of the place from `places`.
__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"                                                     //
        PLACE_FUNCTION("place_leave") ".cfi_def_cfa_offset 16\n"                                                     //
        PLACE_SAVE "movslq 80(%rsp), %rdi\naddq places_address(%rip), %rdi\nleaq 88(%rsp), %rsi\nmovq %rsp, %rdx\n"  //
                                      "call place_end\nmovq %rax, 88(%rsp)\n"                                        //
        PLACE_RESTORE "leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\nret\n" PLACE_END("place_leave") ".popsection\n");

HOOK struct place *const places_address = places;

// For whoever detaches: where threads may return to although they are not in the midst of something here.
__attribute__((visibility("default"))) const struct {
    const char *first, *end;
} fathom_places = {place_code, place_code + PLACE_COUNT *PLACE_SIZE};

FATHOM_WITHOUT_HOOKS_END

#endif
