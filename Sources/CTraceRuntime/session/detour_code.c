#include "detour_code.h"

#include "../host/patch.h"
#include "detour_frames.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

#define CLOSED 0x0eebu  // a jump over the other bytes of the head

void code_jump(uint8_t *bytes, uintptr_t address, uintptr_t target) {
    int32_t distance = (int32_t)(target - (address + DETOUR_SIZE));
    bytes[0] = 0xe9;
    __builtin_memcpy(bytes + 1, &distance, sizeof distance);
}

// jmp *0(%rip), and behind it where to
void code_island(uint8_t *bytes, uintptr_t target) {
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    __builtin_memcpy(bytes, jump, sizeof jump);
    __builtin_memcpy(bytes + sizeof jump, &target, sizeof target);
}

// The address that stubs jump to.
void code_begin(uint8_t *bytes, uintptr_t entry) { __builtin_memcpy(bytes, &entry, sizeof entry); }

size_t code_stub(uint8_t *bytes, uintptr_t address, uintptr_t first, uint32_t number, const uint8_t *code, size_t size,
                 struct detour *detour, uint8_t *units) {
    struct fathom_mover mover = {.bytes = bytes, .address = address};
    fathom_move_byte(&mover, 0x68);
    fathom_move_bytes(&mover, &number, sizeof number);
    fathom_move_byte(&mover, 0xff);
    fathom_move_byte(&mover, 0x25);
    fathom_move_distance(&mover, first, 0);
    while (mover.size < STUB_UNIT) fathom_move_byte(&mover, 0xcc);
    detour->moved = (uint8_t)fathom_move_function(&mover, code, size, (uintptr_t)code);
    if (!detour->moved) return 0;
    if (units)
        for (uint8_t unit = 0; unit <= mover.units; unit++)
            units[unit] = unit ? frames_unit(unit, (uint8_t)(detour->place + mover.stood[unit - 1])) : 0;
    return (mover.size + STUB_UNIT - 1) & ~(size_t)(STUB_UNIT - 1);
}

void code_close(uintptr_t stub) { patch_head(stub, CLOSED); }

uintptr_t code_moved(const struct detour *detour, uintptr_t address) {
    uint8_t bytes[FATHOM_MOVED_LIMIT];
    uintptr_t from = (uintptr_t)jump_of(detour);
    struct fathom_mover mover = {.bytes = bytes, .address = detour->target, .wanted = address - from};
    fathom_move_function(&mover, (const uint8_t *)from, FATHOM_MOVED_LIMIT, from);
    return mover.found ? detour->target + mover.found : 0;
}

FATHOM_WITHOUT_HOOKS_END

#endif
