// The instructions of x86-64: how long they are, where their parts lie, and where branches lead. (Intel's Software
// Developer's Manual, volume 2: chapter 2 for prefixes and operands, appendix A for the maps of opcodes.) For the
// recorder, which decodes files, and for the traced process, which decodes its own code.

#ifndef FATHOM_DECODER_H
#define FATHOM_DECODER_H

#include <stddef.h>
#include <stdint.h>

// What follows an opcode, a letter for each: `X` is none in 64-bit mode, `N` nothing, `M` an operand in memory or a
// register; immediates are `b` a byte, `w` two, `d` four or with a prefix two, `j` four always, `q` as `d` or eight
// with REX.W, `a` an address, `e` three bytes; `B` and `D` are `M` with `b` and `d`; `t` and `u` are `M` with `b` or
// `d` where the operation is a test.
static const char fathom_opcodes[] = "MMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXX"
                                     "XXXXXXXXXXXXXXXXNNNNNNNNNNNNNNNNXXXMXXXXdDbBNNNNbbbbbbbbbbbbbbbb"
                                     "BDXBMMMMMMMMMMMMNNNNNNNNNNXNNNNNaaaaNNNNbdNNNNNNbbbbbbbbqqqqqqqq"
                                     "BBwNXXBDeNwNNbXNMMMMXXXNMMMMMMMMbbbbbbbbjjXbNNNNXNXXNNtuNNNNNNMM";
// The same for opcodes behind 0F.
static const char fathom_more_opcodes[] = "MMMMXNNNNNXNXMNBMMMMMMMMMMMMMMMMMMMMXXXXMMMMMMMMNNNNNNXNXXXXXXXX"
                                          "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMBBBBMMMNMMMMMMMM"
                                          "jjjjjjjjjjjjjjjjMMMMMMMMMMMMMMMMNNNMBMMMNNNMBMMMMMMMMMMMMMBMMMMM"
                                          "MMBMBBBMNNNNNNNNMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM";

struct fathom_instruction {
    uint32_t length;   // in bytes, at most 15; 0: there is none, or it goes on behind the code
    uint32_t opcode;   // where the opcode is, or what stands before that of a vector instruction
    uint32_t operand;  // where the byte is that names an operand in memory or a register; 0: there is none
};

// Where an operand ends, without immediates. It begins at `position`.
static inline size_t fathom_operand_end(const uint8_t *code, size_t size, size_t position) {
    uint8_t mode = code[position] >> 6, base = code[position] & 7;
    position++;
    if (mode == 3) return position;
    if (base == 4) {
        if (position >= size) return SIZE_MAX;
        base = code[position++] & 7;
    }
    if (mode == 1) return position + 1;
    return position + (mode == 2 || base == 5 ? 4 : 0);
}

static inline char fathom_vector_opcode(uint8_t map, uint8_t opcode) {
    switch (map) {
    case 1: return fathom_more_opcodes[opcode] == 'j' ? 'X' : fathom_more_opcodes[opcode];
    case 2:
    case 5:
    case 6: return 'M';
    case 3: return 'B';
    default: return 'X';
    }
}

// What follows an opcode whose first byte is at `*position`, which is moved behind the opcode.
static inline char fathom_operands(const uint8_t *code, size_t size, size_t *position) {
    size_t start = *position, left = size - start;
    uint8_t first = code[start];
    int is_vector = first == 0xc5 || first == 0xc4 || first == 0x62;
    if (!is_vector && first != 0x0f) return *position = start + 1, fathom_opcodes[first];
    size_t length = first == 0xc5 ? 3 : first == 0xc4 ? 4 : first == 0x62 ? 5 : 2;
    if (first == 0x0f && left >= 3 && (code[start + 1] == 0x38 || code[start + 1] == 0x3a)) length = 3;
    if (left < length) return 'X';
    *position = start + length;
    if (first == 0xc5) return fathom_vector_opcode(1, code[start + 2]);
    if (first == 0xc4) return fathom_vector_opcode(code[start + 1] & 0x1f, code[start + 3]);
    if (first == 0x62) return fathom_vector_opcode(code[start + 1] & 7, code[start + 4]);
    if (length == 3) return code[start + 1] == 0x38 ? 'M' : 'B';
    return fathom_more_opcodes[code[start + 1]];
}

static inline struct fathom_instruction fathom_instruction_at(const uint8_t *code, size_t size) {
    const struct fathom_instruction none = {0, 0, 0};
    int is_short = 0, is_narrow = 0, is_wide = 0;
    size_t position = 0;
    for (;; position++) {
        if (position >= size || position >= 15) return none;
        uint8_t byte = code[position];
        if (byte == 0x66) is_short = 1;
        else if (byte == 0x67) is_narrow = 1;
        else if (byte != 0x26 && byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x64 && byte != 0x65 &&
                 byte != 0xf0 && byte != 0xf2 && byte != 0xf3)
            break;
    }
    if ((code[position] & 0xf0) == 0x40) is_wide = code[position++] >> 3 & 1;
    if (position >= size) return none;
    struct fathom_instruction found = {0, (uint32_t)position, 0};
    char kind = fathom_operands(code, size, &position);
    // 8F takes memory or a register away from the stack (/0), or stands before an instruction of AMD's XOP, which no
    // table here has.
    if (code[found.opcode] == 0x8f && (position >= size || code[position] & 0x38)) return none;
    size_t wide = is_short && !is_wide ? 2 : 4;
    if (kind == 'M' || kind == 'B' || kind == 'D' || kind == 't' || kind == 'u') {
        if (position >= size) return none;
        found.operand = (uint32_t)position;
        int is_test = (code[position] >> 3 & 7) < 2;
        position = fathom_operand_end(code, size, position);
        if (position == SIZE_MAX) return none;
        if (kind == 'B' || (kind == 't' && is_test)) position += 1;
        if (kind == 'D' || (kind == 'u' && is_test)) position += wide;
    } else {
        switch (kind) {
        case 'N': break;
        case 'b': position += 1; break;
        case 'w': position += 2; break;
        case 'e': position += 3; break;
        case 'j': position += 4; break;
        case 'd': position += wide; break;
        case 'q': position += is_wide ? 8 : wide; break;
        case 'a': position += is_narrow ? 4 : 8; break;
        default: return none;
        }
    }
    if (position > size || position > 15) return none;
    found.length = (uint32_t)position;
    return found;
}

// What a branch is, of an instruction that was found at `code`.
enum { FATHOM_NO_BRANCH, FATHOM_MAY_BRANCH, FATHOM_BRANCHES, FATHOM_BRANCHES_ANYWHERE, FATHOM_GOES_NOWHERE };

// Calls are no branches. *distance is that of the target from the instruction's end, where it is known. What goes
// nowhere returns or stops.
static inline int fathom_branch(const uint8_t *code, struct fathom_instruction found, int64_t *distance) {
    uint8_t opcode = code[found.opcode], next = found.length > found.opcode + 1 ? code[found.opcode + 1] : 0;
    int32_t four = 0;
    int is_near = opcode == 0xe9 || (opcode == 0x0f && (next & 0xf0) == 0x80);
    if (is_near) __builtin_memcpy(&four, code + found.length - 4, sizeof four);
    *distance = is_near ? four : (int8_t)code[found.length - 1];
    if (opcode == 0xe9 || opcode == 0xeb) return FATHOM_BRANCHES;
    if (is_near || (opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3)) return FATHOM_MAY_BRANCH;
    if (opcode == 0xff && (next >> 3 & 7) >= 4 && (next >> 3 & 7) <= 5) return FATHOM_BRANCHES_ANYWHERE;
    int stops = opcode == 0xc2 || opcode == 0xc3 || opcode == 0xca || opcode == 0xcb || opcode == 0xcc ||
                opcode == 0xf4 || (opcode == 0x0f && next == 0x0b);
    return stops ? FATHOM_GOES_NOWHERE : FATHOM_NO_BRANCH;
}

#endif
