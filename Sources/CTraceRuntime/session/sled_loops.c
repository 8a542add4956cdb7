#include "sled_list.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

// Its functions become functions of this file, which has no hooks.
#include "CDecoder.h"

// A frame is made by a push or by a subtraction from the stack pointer, and once in a call.
static int makes_frame(const uint8_t *code) {
    if ((code[0] & 0xf8) == 0x50 || (code[0] == 0x41 && (code[1] & 0xf8) == 0x50)) return 1;
    return code[0] == 0x48 && (code[1] == 0x83 || code[1] == 0x81) && code[2] == 0xec;
}

static int is_behind_tail(const struct sled *first, const struct sled *last, uintptr_t address) {
    for (const struct sled *sled = first; sled < last; sled++)
        if (sled->kind == KIND_TAIL && address_of(sled) + SLED_SIZE == address) return 1;
    return 0;
}

// Whether a branch leads to `head` or to what stands before it. What leads out of the function without being a tail
// call, or by a table, may do so. Code that follows the last end and that no known branch leads to is reached by a
// table.
static int leads_back(const struct sled *first, const struct sled *last, uintptr_t head, uintptr_t limit) {
    uintptr_t start = function_of(first), furthest = head;
    for (const struct sled *sled = first; sled < last; sled++)
        if (address_of(sled) > furthest) furthest = address_of(sled);
    for (uintptr_t at = start; at < limit;) {
        const uint8_t *code = (const uint8_t *)at;
        struct fathom_instruction found = fathom_instruction_at(code, limit - at);
        if (!found.length) return 1;
        int64_t distance;
        int branch = fathom_branch(code, found, &distance);
        uintptr_t next = at + found.length, target = next + (uintptr_t)distance;
        int is_known = branch == FATHOM_MAY_BRANCH || branch == FATHOM_BRANCHES;
        if (is_known && target >= start && target < limit) {
            if (target <= head) return 1;
            if (target > furthest) furthest = target;
        } else if ((is_known || branch == FATHOM_BRANCHES_ANYWHERE) && !is_behind_tail(first, last, at)) {
            return 1;
        }
        if (branch != FATHOM_NO_BRANCH && branch != FATHOM_MAY_BRANCH && next > furthest) return 0;
        at = next;
    }
    return 0;
}

// Whether code uses what lies below the stack pointer (System V ABI, "red zone"), or may.
static int uses_red_zone(uintptr_t at, uintptr_t limit) {
    while (at < limit) {
        const uint8_t *code = (const uint8_t *)at;
        struct fathom_instruction found = fathom_instruction_at(code, limit - at);
        if (!found.length) return 1;
        const uint8_t *operand = code + found.operand;
        // A base and a distance of one byte or four, whose sign is in the last; the base is the stack pointer.
        int mode = found.operand ? operand[0] >> 6 : 0;
        if ((mode == 1 || mode == 2) && (operand[0] & 7) == 4 && (operand[1] & 7) == 4 &&
            operand[mode == 1 ? 2 : 5] & 0x80)
            return 1;
        at += found.length;
    }
    return 0;
}

enum sled_place sled_place(const struct sled *first, const struct sled *last, uintptr_t limit) {
    const struct sled *entry = first;
    while (entry < last && !is_enter(entry)) entry++;
    if (entry == last || entry->is_first) return SLED_ONCE;
    uintptr_t head = address_of(entry);
    if (head < function_of(first) || head + SLED_SIZE + 3 > limit) return SLED_UNUSABLE;
    if (makes_frame((const uint8_t *)head + SLED_SIZE)) return SLED_ONCE;
    if (!leads_back(first, last, head, limit)) return SLED_ONCE;
    return uses_red_zone(function_of(first), limit) ? SLED_UNUSABLE : SLED_AGAIN;
}

FATHOM_WITHOUT_HOOKS_END

#endif
