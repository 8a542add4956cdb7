// A stub on aarch64, two units of code:
//
//     nop                     closed: b to what was moved. Processors may execute both while one becomes the other.
//     mov w16, #number        two instructions
//     b FIRST                 the module's first unit, which goes on in the runtime
//     ...                     what stood where the branch is now
//     b                       back into the function
//
// x16 and x17 are nobody's on the way to a function.

#include "detour_code.h"

#include "../host/patch.h"

#if defined(__aarch64__)

FATHOM_WITHOUT_HOOKS

#define NOP 0xd503201fu
#define BREAK 0xd4200000u

static uint32_t branch(uintptr_t address, uintptr_t target) {
    return 0x14000000u | ((uint32_t)((target - address) >> 2) & 0x3ffffffu);
}

void code_jump(uint8_t *bytes, uintptr_t address, uintptr_t target) {
    uint32_t word = branch(address, target);
    __builtin_memcpy(bytes, &word, sizeof word);
}

void code_island(uint8_t *bytes, uintptr_t target) {
    static const uint32_t code[] = {0x58000051, 0xd61f0220};  // ldr x17, 8 bytes behind this; br x17
    __builtin_memcpy(bytes, code, sizeof code);
    __builtin_memcpy(bytes + sizeof code, &target, sizeof target);
}

void code_begin(uint8_t *bytes, uintptr_t entry) { code_island(bytes, entry); }

size_t code_stub(uint8_t *bytes, uintptr_t address, uintptr_t first, uint32_t number, const uint8_t *code, size_t size,
                 struct detour *detour, uint8_t *units) {
    uint32_t before, words[STUB_LIMIT / 4];
    (void)size, (void)units;
    words[0] = NOP;
    words[1] = 0x52800010u | (number & 0xffff) << 5;  // mov w16
    words[2] = 0x72a00010u | number >> 16 << 5;       // movk w16, lsl #16
    words[3] = branch(address + 12, first);
    words[6] = words[7] = BREAK;
    detour->moved = DETOUR_SIZE;
    if (!fathom_arm_move(fathom_arm_word(code), (uintptr_t)code, address + STUB_UNIT, words + 4, &before)) return 0;
    __builtin_memcpy(bytes, words, sizeof words);
    return sizeof words;
}

void code_close(uintptr_t stub) {
    // Release: it is one with what lies behind it.
    __atomic_store_n((uint32_t *)stub, branch(stub, stub + STUB_UNIT), __ATOMIC_RELEASE);
    patch_clean(stub, stub + STUB_UNIT);
}

// An instruction has no midst.
uintptr_t code_moved(const struct detour *detour, uintptr_t address) { return (void)detour, (void)address, 0; }

FATHOM_WITHOUT_HOOKS_END

#endif
