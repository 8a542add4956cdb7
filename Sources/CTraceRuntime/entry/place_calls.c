#include "place_calls.h"

#include "../follow/aside.h"
#include "../host/text.h"
#include "CTraceRuntime.h"
#include "sled_trace.h"

FATHOM_WITHOUT_HOOKS

_Static_assert(offsetof(struct place_frame, return_address) - offsetof(struct place_frame, context) == 8 &&
                   sizeof(struct place_frame) % 32 == 0,
               "the assembly knows them");

static uintptr_t place_address(const struct place *place) {
    return (uintptr_t)place_code + (uintptr_t)(place - places) * PLACE_SIZE;
}
// The place that returns to an address. NULL: it is none of a place.
static struct place *place_at(uintptr_t return_address) {
    if (!place_returns_to(return_address)) return NULL;
    return &places[(return_address - (uintptr_t)place_code) / PLACE_SIZE];
}

// A fork's child has no buffers before it has joined the recording.
static SLOW void lose(void) {
    if (runtime.state != STATE_READY || control_mode() == MODE_UNKNOWN) return;
    __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&runtime.buffers->unreturned_calls, 1, __ATOMIC_RELAXED);
}

// Whether the mode is MODE_TRACE.
static int traces(void) { return fathom_load32(&steering.asked.asked) - fathom_load32(&control.base) == MODE_TRACE; }

static void end(uintptr_t sp, const struct sled_registers *registers) {
    uint32_t answer = traces() ? trace_end(&current, sp) : SLED_OTHER;
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

static SLOW void leave(uintptr_t *slot, uintptr_t sp, struct place *place) {
    end_call(place, sp, NULL);
    *slot = place_give(place, sp);
}

void place_leave_by_jump(uintptr_t *slot) {
    struct place *place = place_at(*slot);
    if (UNLIKELY(place)) leave(slot, (uintptr_t)slot, place);
}

void fathom_note_jump(uintptr_t *slot, uintptr_t frame) {
    struct place *place = place_at(*slot);
    if (UNLIKELY(place)) leave(slot, frame - sizeof *slot, place);
}

static struct next go_on_by(const struct place *place) { return (struct next){place_address(place), place->target}; }

NEXT struct next begin_slowly(struct place *place, uintptr_t function, struct place_frame *frame, uint32_t answer) {
    place_enter(function, frame->return_address, (uintptr_t)&frame->return_address, frame->context, answer,
                &frame->registers);
    return go_on_by(place);
}

NEXT struct next begin_traced(struct place *place, uintptr_t function, struct place_frame *frame) {
    uintptr_t sp = (uintptr_t)&frame->return_address;
    uint32_t answer = trace_begin(&current, function, frame->return_address, sp, 1);
    return UNLIKELY(answer) ? begin_slowly(place, function, frame, answer) : go_on_by(place);
}

static struct next begin_at(struct place *place, uintptr_t target, uintptr_t function, struct place_frame *frame) {
    place->target = target;
    place->function = 0;
    return traces() ? begin_traced(place, function, frame) : begin_slowly(place, function, frame, SLED_OTHER);
}

static SLOW struct next begin_elsewhere(uintptr_t target, uintptr_t function, struct place_frame *frame) {
    uintptr_t sp = (uintptr_t)&frame->return_address;
    struct place *place = place_take(frame->return_address, sp, (uintptr_t)place_code);
    if (place) return begin_at(place, target, function, frame);
    lose();
    return (struct next){0, target};
}

struct next place_begin(uintptr_t target, uintptr_t function, struct place_frame *frame) {
    if (UNLIKELY(control_mode() == MODE_OFF)) return (struct next){0, target};
    struct place *place = place_take_again(frame->return_address, (uintptr_t)&frame->return_address);
    return LIKELY(place != NULL) ? begin_at(place, target, function, frame) : begin_elsewhere(target, function, frame);
}

// ---- functions with hooks

struct next place_begin_result(uintptr_t target, uintptr_t function, struct place_frame *frame) {
    uintptr_t sp = (uintptr_t)&frame->return_address, return_address = frame->return_address;
    struct place *place = control_mode() == MODE_OFF ? NULL : place_take(return_address, sp, (uintptr_t)place_code);
    if (!place) return (struct next){0, target};
    place->target = target;
    place->function = function;
    place->hooks = 0;
    return go_on_by(place);
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

NEXT uintptr_t end_otherwise(struct place *place, struct place_frame *frame) {
    uintptr_t sp = (uintptr_t)&frame->return_address;
    if (place->function) {
        end_call(place, sp, &frame->registers);
        return place_give(place, sp);
    }
    uintptr_t return_address = place_give(place, sp);
    end(sp, &frame->registers);
    return return_address;
}

static SLOW uintptr_t end_slowly(uintptr_t return_address, struct place_frame *frame, uint32_t answer) {
    sled_leave((uintptr_t)&frame->return_address, answer, &frame->registers);
    return return_address;
}

// Returns where the call's caller goes on. The registers are as the function has left them.
HOOK uintptr_t place_end(struct place *place, struct place_frame *frame) {
    uintptr_t sp = (uintptr_t)&frame->return_address, return_address = place->return_address;
    if (UNLIKELY(place->function || !place_is_of(place, sp) || !traces())) return end_otherwise(place, frame);
    place_close(place);
    uint32_t answer = trace_end(&current, sp);
    return UNLIKELY(answer) ? end_slowly(return_address, frame, answer) : return_address;
}

// ---- the first instructions

#if defined(__x86_64__)

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
__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"                                //
        PLACE_FUNCTION("place_leave") ".cfi_def_cfa_offset 16\n"                                //
        PLACE_SAVE "movslq 80(%rsp), %rdi\naddq places_address(%rip), %rdi\nmovq %rsp, %rsi\n"  //
                                      "call place_end\nmovq %rax, 88(%rsp)\n"                   //
        PLACE_RESTORE "leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\nret\n" PLACE_END("place_leave") ".popsection\n");

HOOK struct place *const places_address = places;

#else

// x30 is s + 4 at every instruction of a place, where s is the place's own address, but for the second one where the
// function has returned by another register. It is that from the last instructions of whoever leads here on. The FDE is
// marked as a signal's frame, because it ends where its caller's frame does, and unwinders tell the two apart by that.
__asm__(".pushsection .text.fathom_places, \"ax\", %progbits\n.p2align 6\n"
        ".globl place_code\n.hidden place_code\n.type place_code, %function\nplace_code:\n"
        ".cfi_startproc\n.cfi_signal_frame\n" PLACE_RETURNS ".set number, 0\n.rept " TEXT(
            PLACE_COUNT) "\n"
                         "blr x16\nadr x30, .\nb place_leave\n.word places + 64 * number + 8 - .\n"
                         ".set number, number + 1\n.endr\n"
                         ".cfi_endproc\n.size place_code, . - place_code\n.popsection\n");
_Static_assert(PLACE_SIZE == 16, "the assembly knows it");

// Neither x16 nor x17 is anybody's here: whoever stands between callers and functions may use them.
__asm__(".pushsection .text.fathom_library, \"ax\", %progbits\n"  //
        PLACE_FUNCTION("place_leave") PLACE_RETURNS
        // x17 becomes places + 64 * number + 16.
        "adrp x16, place_code\nadd x16, x16, :lo12:place_code\nsub x16, x30, x16\n"
        "adrp x17, places\nadd x17, x17, :lo12:places\nadd x17, x17, x16, lsl #2\n"
        "ldur x30, [x17, #-8]\n.cfi_same_value 30\n"                                                             //
        PLACE_SAVE "sub x0, x17, #16\nmov x1, sp\nbl place_end\nstr x0, [sp, #280]\n"                            //
        PLACE_RESTORE "ldr x30, [sp, #280]\n.cfi_same_value 30\nadd sp, sp, #288\n.cfi_def_cfa_offset 0\nret\n"  //
        PLACE_END("place_leave") ".popsection\n");

#endif

// For whoever detaches: where threads may return to although they are not in the midst of something here.
__attribute__((visibility("default"))) const struct {
    const char *first, *end;
} fathom_places = {place_code, place_code + PLACE_COUNT *PLACE_SIZE};

FATHOM_WITHOUT_HOOKS_END
