// Looks how a module's code uses slots. Instructions are not told apart: a reference to a slot may begin at any byte,
// so none can hide from this. What only looks like one costs nothing but a slot that is left alone.

#include "library_slots.h"

#if defined(__x86_64__)

#include <link.h>

FATHOM_WITHOUT_HOOKS

enum { CALLED = 1, READ = 2 };

static void mark(uintptr_t *const *slots, uint8_t *marks, size_t count, uintptr_t address, uint8_t how) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)slots[middle] < address) low = middle + 1;
        else high = middle;
    }
    for (; low < count && (uintptr_t)slots[low] == address; low++) marks[low] |= how;
}

// The slots stand in the order of their addresses.
static void look(const uint8_t *code, size_t size, uintptr_t *const *slots, uint8_t *marks, size_t count) {
    uintptr_t least = (uintptr_t)slots[0], most = (uintptr_t)slots[count - 1];
    for (size_t at = 2; at + 4 <= size; at++) {
        int32_t distance;
        __builtin_memcpy(&distance, code + at, sizeof distance);
        uintptr_t to = (uintptr_t)(code + at + 4) + (uintptr_t)(intptr_t)distance;
        if (to + 4 < least || to > most || (code[at - 1] & 0xc7) != 5) continue;  // ModRM: relative to rip
        if (code[at - 2] == 0xff && (code[at - 1] == 0x15 || code[at - 1] == 0x25))
            mark(slots, marks, count, to, CALLED);
        else mark(slots, marks, count, to, READ);
        // An immediate value may stand between the distance and the instruction's end.
        mark(slots, marks, count, to + 1, READ);
        mark(slots, marks, count, to + 2, READ);
        mark(slots, marks, count, to + 4, READ);
    }
}

void library_slots_mark_uses(const struct dl_phdr_info *module, uintptr_t *const *slots, uint8_t *marks, size_t count) {
    for (int i = 0; count && i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_flags & PF_X)
            look((const uint8_t *)(module->dlpi_addr + header->p_vaddr), header->p_filesz, slots, marks, count);
    }
    for (size_t i = 0; i < count; i++) marks[i] = marks[i] == CALLED;
}

FATHOM_WITHOUT_HOOKS_END

#endif
