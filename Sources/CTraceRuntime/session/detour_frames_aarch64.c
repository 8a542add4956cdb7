#include "detour_frames.h"

#include "frames_writer.h"

#if defined(__aarch64__)

FATHOM_WITHOUT_HOOKS

// Each stub has an FDE: nothing in it could tell the stub, because unwinders know no register that holds the address
// where a thread is. So the return address has a column of its own, which is DWARF's number of that register, and x30
// is the caller's as before. (DWARF for the Arm 64-bit Architecture, 4.1; numbers of registers are from there, too.)
//
// The frame's address is two bytes below the stack pointer, which stays as it is: unwinders tell the frames of the
// stub, of its function and of the caller apart by their addresses when they come back to the one that handles an
// exception.

enum {
    SP = 31,
    PC = 32,
    BREG30 = 0x8e,  // DWARF 5, 2.5
    BREG31 = 0x8f,
    NUMBER8 = 0x0e,
    CFA_EXPRESSION = 0x0f,  // DWARF 5, 6.4.2
    VALUE_EXPRESSION = 0x16,
    ADVANCE = 0x40,
};

const void *frames_of(const char *memory, size_t stubs) { return memory + stubs; }
size_t frames_size(size_t stubs, uint32_t count) { return (void)stubs, 128 + (size_t)count * 52; }

// That of the entry, with what all have in common at `common`, for code at `address`. It is noted in the table of all.
static size_t begin_code(struct fathom_mover *writer, size_t common, uintptr_t address, uint32_t size, uint8_t *noted) {
    size_t begin = begin_entry(writer);
    uint32_t back = (uint32_t)(begin - common);
    int32_t places[] = {(int32_t)(address - writer->address), (int32_t)(begin - 4)};
    __builtin_memcpy(noted, places, sizeof places);
    fathom_move_bytes(writer, &back, sizeof back);
    put_distance(writer, address);
    fathom_move_bytes(writer, &size, sizeof size);
    PUT(writer, 0);
    return begin;
}

// Behind the first byte of the instruction at which the thread would be without the stub, as if it was a call.
static void put_place(struct fathom_mover *writer, uintptr_t address) {
    PUT(writer, VALUE_EXPRESSION, PC, 9, NUMBER8);
    address++;
    fathom_move_bytes(writer, &address, sizeof address);
}

void frames_write(char *memory, size_t stubs, const struct detour *all, uint32_t number, uint32_t count) {
    uintptr_t address = (uintptr_t)frames_of(memory, stubs);
    struct fathom_mover writer = {.bytes = (uint8_t *)address, .address = address};
    uint32_t entries = count + 1;
    PUT(&writer, 1, 0x1b, 0x03, 0x3b);
    put_distance(&writer, address + 12 + 8 * (size_t)entries);
    fathom_move_bytes(&writer, &entries, sizeof entries);
    uint8_t *noted = writer.bytes + writer.size;
    writer.size += 8 * (size_t)entries;
    size_t common = begin_entry(&writer) - 4, entry = common + 4;
    PUT(&writer, 0, 0, 0, 0, 1, 'z', 'R', 0, 4, 0x78, PC, 1, 0x1b);
    PUT(&writer, CFA_EXPRESSION, 2, BREG31, 0x7e, VALUE_EXPRESSION, SP, 2, BREG31, 0);
    end_entry(&writer, entry, 4);
    // What all stubs share: it is on the way from the caller.
    entry = begin_code(&writer, common, (uintptr_t)memory, FATHOM_MOVED_UNIT, noted);
    PUT(&writer, VALUE_EXPRESSION, PC, 2, BREG30, 0);
    end_entry(&writer, entry, 4);
    for (const struct detour *detour = all + number; detour < all + number + count; detour++) {
        uint32_t moved[FATHOM_ARM_MOVED_LIMIT], before = 1;
        uintptr_t stub = detour->target - FATHOM_MOVED_UNIT;
        fathom_arm_move(fathom_arm_word(detour->code), detour->function, detour->target, moved, &before);
        entry = begin_code(&writer, common, stub, 2 * FATHOM_MOVED_UNIT, noted += 8);
        put_place(&writer, detour->function);
        PUT(&writer, (uint8_t)(ADVANCE | (FATHOM_MOVED_UNIT / 4 + before)));
        put_place(&writer, detour->function + DETOUR_SIZE);
        end_entry(&writer, entry, 4);
    }
    PUT(&writer, 0, 0, 0, 0);
}

FATHOM_WITHOUT_HOOKS_END

#endif
