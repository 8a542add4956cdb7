// What detours are made of (session/detours.h): the jump in a function, and the stubs in memory near the module. Each
// architecture has a file for this. Nothing here looks at what is in memory already, or changes it.

#ifndef FATHOM_DETOUR_CODE_H
#define FATHOM_DETOUR_CODE_H

#include "detours.h"

FATHOM_WITHOUT_HOOKS

// A module's memory begins with so many bytes that stubs use, and each stub begins at a multiple of that, with so many
// bytes before what was moved.
#define STUB_UNIT FATHOM_MOVED_UNIT
#if defined(__x86_64__)
#define STUB_LIMIT (STUB_UNIT + FATHOM_MOVED_LIMIT)  // bytes of the longest
// Branches and operands reach 2 GB. What functions refer to in their own module is within reach, too, as long as the
// memory is this near.
#define CODE_NEAR (1ull << 30)
#define CODE_STEP (8ull << 20)
#else
#define STUB_LIMIT (2 * STUB_UNIT)
#define CODE_NEAR (1ull << 27)  // branches reach no farther
#define CODE_STEP (1ull << 20)
#endif

// All that write get the bytes to write to, and the address where these are going to be.
// A jump of DETOUR_SIZE bytes.
void code_jump(uint8_t *bytes, uintptr_t address, uintptr_t target);
// STUB_UNIT bytes that go on at a target, wherever that is.
void code_island(uint8_t *bytes, uintptr_t target);
// The first bytes of a module's memory.
void code_begin(uint8_t *bytes, uintptr_t entry);
// The stub of a function whose first instructions, or those behind a mark, are `code`, and what unwinders are to know
// of its units; NULL: nothing. `first` is where the module's memory begins. Returns the size; 0 where the function
// cannot have one.
size_t code_stub(uint8_t *bytes, uintptr_t address, uintptr_t first, uint32_t number, const uint8_t *code, size_t size,
                 struct detour *detour, uint8_t *units);
// Closes the stub there by one store.
void code_close(uintptr_t stub);
// Where the instruction at an address has come to; 0: nowhere.
uintptr_t code_moved(const struct detour *detour, uintptr_t address);

// How many bytes behind a function's beginning its detour is.
INTERNAL uint8_t code_place(const uint8_t *code, size_t size) {
#if defined(__x86_64__)
    return (uint8_t)fathom_detour_place(code, size);
#else
    return (void)code, (void)size, 0;
#endif
}

INTERNAL uint8_t *jump_of(const struct detour *detour) { return (uint8_t *)detour->function + detour->place; }

FATHOM_WITHOUT_HOOKS_END

#endif
