#include "detour_frames.h"

#include "frames_writer.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

#include "CDetours.h"

#define FRAMES_SIZE 320u  // bytes, behind those for units

size_t frames_size(size_t stubs, uint32_t count) { return (void)count, stubs / FATHOM_MOVED_UNIT + FRAMES_SIZE; }

// Operations of DWARF expressions (DWARF 5, 2.5). Those that take numbers are followed by these.
enum {
    DEREF = 0x06,
    NUMBER1 = 0x08,  // const1u
    NUMBER2 = 0x0a,
    NUMBER8 = 0x0e,
    DUP = 0x12,
    DROP = 0x13,
    OVER = 0x14,
    SWAP = 0x16,
    AND = 0x1a,
    MINUS = 0x1c,
    TIMES = 0x1e,
    OR = 0x21,
    PLUS = 0x22,
    PLUS_NUMBER = 0x23,
    LEFT = 0x24,  // shl
    RIGHT = 0x25,
    IF = 0x28,  // bra
    IS = 0x29,  // eq
    GO = 0x2f,  // skip
    IS_NOT = 0x2e,
    ZERO = 0x30,  // lit0; the numbers up to 31 follow
    SP = 0x77,    // breg7
    PC = 0x80,    // breg16
    DEREF_SIZE = 0x94,
};

static void put_address(struct fathom_mover *writer, const void *address) {
    PUT(writer, NUMBER8);
    fathom_move_bytes(writer, &address, sizeof address);
}

// Whether a call among the first instructions is being made: a push stands before the instruction, whose operand lies
// a few bytes behind it (CDetours.h).
static void put_calls(struct fathom_mover *writer, uint8_t compare) {
    PUT(writer, PC, 0x7a, DEREF, NUMBER8, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0, 0, AND, NUMBER2, 0xff, 0x35, compare);
}
// The number of the unit, and its byte.
static void put_unit(struct fathom_mover *writer, const char *memory, size_t stubs) {
    PUT(writer, PC, 0);
    put_address(writer, memory);
    PUT(writer, MINUS, ZERO + 4, RIGHT, DUP);
    put_address(writer, memory + stubs);
    PUT(writer, PLUS, DEREF_SIZE, 1);
}

// An expression, whose length stands before it.
static size_t begin(struct fathom_mover *writer) { return PUT(writer, 0), writer->size; }
static void end(struct fathom_mover *writer, size_t begin) {
    writer->bytes[begin - 1] = (uint8_t)(writer->size - begin);
}

// Where the caller's frame is, whose place the stub takes: at the stack pointer, or above what was pushed there.
static void put_frame(struct fathom_mover *writer, const char *memory, size_t stubs) {
    PUT(writer, 0x0f);  // DW_CFA_def_cfa_expression
    size_t first = begin(writer);
    PUT(writer, SP, 0);
    put_calls(writer, IS);
    put_unit(writer, memory, stubs);
    PUT(writer, ZERO + 7, AND, ZERO, IS, PC, 0, ZERO + 15, AND, ZERO, IS_NOT, AND);  // in the head, behind its push
    PUT(writer, SWAP, DROP, OR, ZERO + 3, LEFT, PLUS);
    end(writer, first);
}

// Behind the first byte of the instruction at which the thread would be without the stub, as if it was a call. For a
// signal's frame, unwinders would not look before the address, but they could not tell the two frames apart either,
// when they come back to the one that handles an exception.
static void put_place(struct fathom_mover *writer, const char *memory, size_t stubs, const struct detour *all) {
    PUT(writer, 0x16, 16);  // DW_CFA_val_expression of the return address
    size_t first = begin(writer);
    put_calls(writer, IS_NOT);
    PUT(writer, IF, 6, 0, SP, 0, DEREF, GO);
    size_t go = writer->size;
    PUT(writer, 0, 0);
    put_unit(writer, memory, stubs);
    PUT(writer, SWAP, OVER, ZERO + 7, AND, MINUS, ZERO + 4, LEFT);
    put_address(writer, memory);
    PUT(writer, PLUS, PLUS_NUMBER, 1, DEREF_SIZE, 4, NUMBER1, sizeof *all, TIMES);
    put_address(writer, &all->function);
    PUT(writer, PLUS, DEREF, OVER, ZERO + 3, RIGHT, PLUS);
    PUT(writer, SWAP, ZERO, IS_NOT, PC, 0, ZERO + 15, AND, TIMES, PLUS);  // the head's address is that of the function
    PUT(writer, PLUS_NUMBER, 1);
    writer->bytes[go] = (uint8_t)(writer->size - go - 2);
    end(writer, first);
}

const void *frames_of(const char *memory, size_t stubs) {
    return (const char *)(((uintptr_t)memory + stubs + stubs / FATHOM_MOVED_UNIT + 7) & ~(uintptr_t)7);
}

void frames_write(char *memory, size_t stubs, const struct detour *all, uint32_t number, uint32_t detour_count) {
    (void)number, (void)detour_count;  // one for all stubs finds the detour itself
    uintptr_t address = (uintptr_t)frames_of(memory, stubs);
    struct fathom_mover writer = {.bytes = (uint8_t *)address, .address = address};
    int32_t first = (int32_t)((uintptr_t)memory - address);
    uint32_t count = 1, size = (uint32_t)stubs;
    PUT(&writer, 1, 0x1b, 0x03, 0x3b);
    put_distance(&writer, address + 24);
    fathom_move_bytes(&writer, &count, sizeof count);
    fathom_move_bytes(&writer, &first, sizeof first);
    size_t place = writer.size;  // of the distance of the function's entry
    PUT(&writer, 0, 0, 0, 0, 0, 0, 0, 0);
    size_t entry = begin_entry(&writer);
    PUT(&writer, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b);
    put_frame(&writer, memory, stubs);
    put_place(&writer, memory, stubs, all);
    end_entry(&writer, entry, 8);
    uint32_t back = (uint32_t)(writer.size + 4 - (entry - 4)), at = (uint32_t)writer.size;
    __builtin_memcpy(writer.bytes + place, &at, sizeof at);
    entry = begin_entry(&writer);
    fathom_move_bytes(&writer, &back, sizeof back);
    put_distance(&writer, (uintptr_t)memory);
    fathom_move_bytes(&writer, &size, sizeof size);
    PUT(&writer, 0);
    end_entry(&writer, entry, 8);
    PUT(&writer, 0, 0, 0, 0);
}

FATHOM_WITHOUT_HOOKS_END

#endif
