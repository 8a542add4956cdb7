// Functions of x86-64 whose first instructions can be moved, so that a jump of five bytes has room where they were: the
// function's *detour*. For the recorder, which judges functions as their file has them, and for the traced process,
// which moves the instructions.
//
// An instruction is moved as it is where nothing in it depends on where it stands. A branch, an operand that is given
// by its distance (RIP-relative, Intel's Software Developer's Manual, volume 2, 2.2.1.6) and a call are written anew.

#ifndef FATHOM_FIRST_INSTRUCTIONS_H
#define FATHOM_FIRST_INSTRUCTIONS_H

#include "CDecoder.h"

#define FATHOM_DETOUR_SIZE 5u
// In each of so many bytes where instructions are moved, all have come equally far from where they stood.
#define FATHOM_MOVED_UNIT 16u
// The most bytes that they need: up to three units for themselves and the jump back, and one for each short branch.
#define FATHOM_MOVED_LIMIT 80u

enum fathom_move {
    FATHOM_MOVE_AS_IT_IS,
    FATHOM_MOVE_DISTANT,    // an operand at a distance of four bytes, at `place`, is written anew
    FATHOM_MOVE_BRANCH,     // a conditional branch
    FATHOM_MOVE_JUMP,       // a jump: what follows belongs to something else
    FATHOM_MOVE_CALL,       // a call of a known place
    FATHOM_MOVE_CALL_AWAY,  // a call of what a register or memory says
    FATHOM_MOVE_END,        // nothing comes behind it
    FATHOM_MOVE_NOT,        // it cannot be moved
};

struct fathom_moved {
    uint32_t length;  // of the instruction; 0: there is none
    uint32_t place;   // where in it the operand's distance stands; 0: it has none
    uint32_t opcode;  // where in it the opcode is
    enum fathom_move move;
    int64_t distance;  // of a known target from the instruction's end
};

// How an instruction that begins at `code` is moved.
static inline struct fathom_moved fathom_moved_at(const uint8_t *code, size_t size) {
    struct fathom_instruction found = fathom_instruction_at(code, size);
    struct fathom_moved moved = {found.length, 0, found.opcode, FATHOM_MOVE_AS_IT_IS, 0};
    if (!found.length) {
        moved.move = FATHOM_MOVE_NOT;
        return moved;
    }
    uint8_t opcode = code[found.opcode], operand = found.operand ? code[found.operand] : 0xc0;
    int is_prefixed = 0, is_narrow = 0;  // 66, 67
    for (uint32_t i = 0; i < found.opcode; i++) {
        is_prefixed |= code[i] == 0x66;
        is_narrow |= code[i] == 0x67;
    }
    if (found.operand && (operand & 0xc7) == 0x05) {
        moved.place = found.operand + 1;
        moved.move = is_narrow ? FATHOM_MOVE_NOT : FATHOM_MOVE_DISTANT;
    }
    switch (fathom_branch(code, found, &moved.distance)) {
    case FATHOM_MAY_BRANCH:
        // LOOP and JCXZ have no form that leads far. What a prefix 66 does to branches depends on the processor.
        moved.move = is_prefixed || (opcode >= 0xe0 && opcode <= 0xe3) ? FATHOM_MOVE_NOT : FATHOM_MOVE_BRANCH;
        return moved;
    case FATHOM_BRANCHES: moved.move = is_prefixed ? FATHOM_MOVE_NOT : FATHOM_MOVE_JUMP; return moved;
    case FATHOM_BRANCHES_ANYWHERE:
        if ((operand >> 3 & 7) == 5 || moved.move == FATHOM_MOVE_NOT) moved.move = FATHOM_MOVE_NOT;
        else moved.move = FATHOM_MOVE_END;
        return moved;
    case FATHOM_GOES_NOWHERE: moved.move = opcode == 0xcc ? FATHOM_MOVE_NOT : FATHOM_MOVE_END; return moved;
    default: break;
    }
    int32_t four;
    if (opcode == 0xe8) {
        moved.move = is_prefixed ? FATHOM_MOVE_NOT : FATHOM_MOVE_CALL;
        __builtin_memcpy(&four, code + found.length - 4, sizeof four);
        moved.distance = four;
    } else if (opcode == 0xff && (operand >> 3 & 7) == 3) {
        moved.move = FATHOM_MOVE_NOT;
    } else if (opcode == 0xff && (operand >> 3 & 7) == 2) {
        // The return address is pushed before the target is read, so the stack must not say what that is.
        int is_on_stack = operand < 0xc0 && (operand & 7) == 4 && (code[found.operand + 1] & 7) == 4;
        int is_stack = operand >= 0xc0 && (operand & 7) == 4 && !(found.opcode && code[found.opcode - 1] & 1);
        moved.move = is_on_stack || is_stack || is_narrow ? FATHOM_MOVE_NOT : FATHOM_MOVE_CALL_AWAY;
    } else if (opcode == 0xc7 && operand == 0xf8) {
        moved.move = FATHOM_MOVE_NOT;  // XBEGIN
    }
    return moved;
}

// Whether the flow of instructions ends with this one.
static inline int fathom_ends(enum fathom_move move) { return move == FATHOM_MOVE_JUMP || move == FATHOM_MOVE_END; }

// Whether a call that ends `behind` bytes behind the function's beginning returns to where the jump is then.
static inline int fathom_returns_early(enum fathom_move move, size_t behind) {
    return (move == FATHOM_MOVE_CALL || move == FATHOM_MOVE_CALL_AWAY) && behind < FATHOM_DETOUR_SIZE;
}

// Bytes of what compilers put between functions.
static inline size_t fathom_padding(const uint8_t *code, size_t size) {
    size_t at = 0;
    while (at < size) {
        size_t prefixes = 0;
        if (code[at] == 0xcc || code[at] == 0x90) {
            at++;
            continue;
        }
        while (at + prefixes < size && (code[at + prefixes] == 0x66 || code[at + prefixes] == 0x2e)) prefixes++;
        size_t left = size - at - prefixes;
        if (prefixes && left && code[at + prefixes] == 0x90) {
            at += prefixes + 1;
            continue;
        }
        if (left < 2 || code[at + prefixes] != 0x0f || code[at + prefixes + 1] != 0x1f) break;
        struct fathom_instruction nop = fathom_instruction_at(code + at, size - at);
        if (!nop.length) break;
        at += nop.length;
    }
    return at;
}

// How many bytes behind a function's beginning its detour is: behind a mark of places that may be jumped to (ENDBR64).
// Who jumps behind the mark comes by the detour, too.
static inline size_t fathom_detour_place(const uint8_t *code, size_t size) {
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
    return size >= sizeof mark && !__builtin_memcmp(code, mark, sizeof mark) ? sizeof mark : 0;
}

// A bit for each byte of code that something leads to.
struct fathom_targets {
    uint64_t low, high;
    uint8_t *bits;
};
static inline void fathom_target(const struct fathom_targets *targets, uint64_t address) {
    uint64_t at = address - targets->low;
    if (at < targets->high - targets->low) targets->bits[at >> 3] |= (uint8_t)(1u << (at & 7));
}
static inline int fathom_is_target(const struct fathom_targets *targets, uint64_t address) {
    uint64_t at = address - targets->low;
    return at < targets->high - targets->low && targets->bits[at >> 3] >> (at & 7) & 1;
}

// A function of a file, and what was seen of it.
struct fathom_surveyed {
    uint64_t start, end;
    uint8_t is_undecoded;  // it is not code from the first byte to the last
    uint8_t loops;         // a branch leads to its beginning
    uint8_t looks;         // it reads or writes its return address, or where that lies
    uint8_t names_itself;  // it makes the address of an instruction of its own
    uint8_t jumps_away;    // it jumps to where a register or memory says
};

// What a file has of data at an address.
struct fathom_data {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
};

// Where the stack pointer is in a function, and the frame pointer, as far as following the instructions from its
// beginning tells: bytes below the return address.
struct fathom_depth {
    int64_t depth, frame;
    int is_known, has_frame;
};

// Follows one instruction. Returns whether it reads or writes the return address.
static inline int fathom_follow(struct fathom_depth *at, const uint8_t *code, struct fathom_instruction found) {
    const uint8_t *opcode = code + found.opcode;
    uint8_t rex = found.opcode && (opcode[-1] & 0xf0) == 0x40 ? opcode[-1] : 0, first = opcode[0];
    uint8_t operand = found.operand ? code[found.operand] : 0, mode = operand >> 6, base = operand & 7;
    int32_t distance = 0;
    if (found.operand && mode != 3) {
        const uint8_t *behind = code + found.operand + 1;
        int is_stack = base == 4 && (*behind & 0x3f) == 0x24 && !(rex & 3);
        if (base == 4) behind++;
        if (mode == 1) distance = (int8_t)*behind;
        if (mode == 2) __builtin_memcpy(&distance, behind, sizeof distance);
        int is_frame = base == 5 && mode != 0 && !(rex & 1);
        if (is_stack && at->is_known && distance == at->depth) return 1;
        if (is_frame && at->has_frame && distance == at->frame) return 1;
        if (is_stack && first == 0x8d && (operand >> 3 & 7) == 4 && !(rex & 4)) {  // LEA of the stack pointer
            at->depth -= distance;
            return 0;
        }
    }
    if (first == 0xc2) return 1;  // RET that takes more than the address
    if ((first & 0xf8) == 0x50 || first == 0x68 || first == 0x6a || (first == 0xff && (operand >> 3 & 7) == 6)) {
        at->depth += 8;
    } else if ((first & 0xf8) == 0x58) {
        if (at->is_known && at->depth == 0) return 1;
        at->depth -= 8;
        if (first == 0x5d && !(rex & 1)) at->has_frame = 0;
        if (first == 0x5c && !(rex & 1)) at->is_known = 0;
    } else if (first == 0xc9) {  // LEAVE
        at->depth = at->frame - 8;
        at->is_known = at->has_frame;
        at->has_frame = 0;
    } else if (rex & 8 && mode == 3 && ((first == 0x89 && operand == 0xe5) || (first == 0x8b && operand == 0xec))) {
        at->frame = at->depth;
        at->has_frame = at->is_known;
    } else if (rex & 8 && mode == 3 && base == 4 && !(rex & 1) && (first == 0x83 || first == 0x81)) {
        int64_t number = (int8_t)code[found.length - 1];
        int32_t four;
        __builtin_memcpy(&four, code + found.length - 4, sizeof four);
        if (first == 0x81) number = four;
        if ((operand >> 3 & 7) == 5) at->depth += number;
        else if ((operand >> 3 & 7) == 0) at->depth -= number;
        else if ((operand >> 3 & 7) != 7) at->is_known = 0;
    } else if (found.operand && (first & 0xfc) < 0x40 && (first & 4) == 0 && (first & 0x38) != 0x38) {
        // Arithmetic: to the operand in memory or a register, or from it.
        if ((first & 2) ? (operand >> 3 & 7) == 4 && !(rex & 4) : mode == 3 && base == 4 && !(rex & 1))
            at->is_known = 0;
    } else if (found.operand && (first == 0x89 || first == 0x8b || first == 0x8d || first == 0x87)) {
        int is_to = first == 0x89 ? mode == 3 && base == 4 && !(rex & 1) : (operand >> 3 & 7) == 4 && !(rex & 4);
        if (is_to) at->is_known = 0;
    }
    return 0;
}

// A table of distances of four bytes from its own beginning, as compilers make them for switches: marks what its
// entries lead to, as long as that is in the function.
static inline void fathom_survey_table(const struct fathom_targets *targets, struct fathom_surveyed *function,
                                       const struct fathom_data *data, size_t count, uint64_t table) {
    for (const struct fathom_data *part = data; part < data + count; part++) {
        if (table - part->address >= part->size) continue;
        for (size_t at = (size_t)(table - part->address); at + 4 <= part->size; at += 4) {
            int32_t distance;
            __builtin_memcpy(&distance, part->bytes + at, sizeof distance);
            uint64_t target = table + (uint64_t)(int64_t)distance;
            if (target - function->start >= function->end - function->start) return;
            if (target == function->start) function->loops = 1;
            fathom_target(targets, target);
        }
        return;
    }
}

// An address that an instruction of a function makes.
static inline void fathom_survey_address(const struct fathom_targets *targets, struct fathom_surveyed *function,
                                         uint64_t address) {
    fathom_target(targets, address);
    if (address - function->start < function->end - function->start) function->names_itself = 1;
}

// Surveys a stretch of code at `address`, and the `count` functions that begin there, in the order of their addresses.
// Marks what branches and calls lead to and which addresses are made, in `targets`, and in `parts` what conditional
// branches of a function lead to outside of it. What lies between functions may be data. O(size + count), and the sizes
// of tables.
static inline void fathom_survey(const struct fathom_targets *targets, const struct fathom_targets *parts,
                                 const uint8_t *code, size_t size, uint64_t address, struct fathom_surveyed *functions,
                                 size_t count, const struct fathom_data *data, size_t data_count) {
    struct fathom_surveyed outside = {0}, *function = &outside, *end = functions + count;
    struct fathom_depth depth = {0};
    size_t at = 0;
    while (at < size) {
        uint64_t here = address + at;
        if (functions < end && functions->start <= here) {
            function = functions++;
            depth = (struct fathom_depth){.is_known = 1};
            continue;
        }
        // Where a function is over, and where the next one begins, an instruction ends.
        uint64_t limit = functions < end && functions->start < address + size ? functions->start : address + size;
        int is_inside = here < function->end;
        if (is_inside && function->end < limit) limit = function->end;
        const uint8_t *from = code + at;
        struct fathom_instruction found = fathom_instruction_at(from, (size_t)(limit - here));
        if (!found.length) {
            if (is_inside) function->is_undecoded = 1;
            at++;
            continue;
        }
        int64_t distance;
        int32_t four = 0;
        int branch = fathom_branch(from, found, &distance);
        uint8_t opcode = from[found.opcode];
        int is_call = opcode == 0xe8, is_begin = opcode == 0xc7 && found.operand && from[found.operand] == 0xf8;
        if (found.length >= 4) __builtin_memcpy(&four, from + found.length - 4, sizeof four);
        if (is_call || is_begin) distance = four;  // is_begin: XBEGIN
        at += found.length;
        if (is_inside) {
            if (fathom_follow(&depth, from, found)) function->looks = 1;
            if (branch == FATHOM_BRANCHES_ANYWHERE) function->jumps_away = 1;
            if (branch != FATHOM_NO_BRANCH && branch != FATHOM_MAY_BRANCH) depth.is_known = 0;
            if (opcode == 0x8d && found.operand && (from[found.operand] & 0xc7) == 5) {
                uint64_t made = address + at + (uint64_t)(int64_t)four;
                fathom_survey_address(targets, function, made);
                fathom_survey_table(targets, function, data, data_count, made);
            } else if (((opcode & 0xf8) == 0xb8 || (opcode == 0xc7 && !is_begin)) && found.length >= 5) {
                fathom_survey_address(targets, function, (uint64_t)(uint32_t)four);
            }
        }
        int leads = branch == FATHOM_MAY_BRANCH || branch == FATHOM_BRANCHES;
        if (!leads && !is_call && !is_begin) continue;
        uint64_t target = address + at + (uint64_t)distance;
        fathom_target(targets, target);
        if (!is_inside || is_call) continue;
        if (target == function->start) function->loops = 1;
        if (branch == FATHOM_MAY_BRANCH && (target < function->start || target >= function->end))
            fathom_target(parts, target);
    }
}

enum fathom_verdict {
    FATHOM_HAS_DETOUR,
    FATHOM_NOT_DECODED,  // the code is not like a compiler's
    FATHOM_LOOPS,        // the function comes back to its beginning
    FATHOM_TOO_SHORT,
    FATHOM_ENTERED,  // something leads into the first bytes
    FATHOM_FIXED,    // one of the first instructions cannot be moved
    FATHOM_LOOKS,    // it looks at where it returns to
};

// Judges a function that was surveyed, and whose first byte is at `code`; `room` bytes from there on belong to no
// other.
static inline enum fathom_verdict fathom_judge(const struct fathom_targets *targets,
                                               const struct fathom_surveyed *function, const uint8_t *code,
                                               size_t room) {
    size_t size = (size_t)(function->end - function->start), place = fathom_detour_place(code, size), moved = place;
    size_t limit = place + FATHOM_DETOUR_SIZE;
    int ends = 0;
    if (function->is_undecoded) return FATHOM_NOT_DECODED;
    if (function->loops || (function->names_itself && function->jumps_away)) return FATHOM_LOOPS;
    if (function->looks) return FATHOM_LOOKS;
    while (moved < size && moved < limit && !ends) {
        struct fathom_moved next = fathom_moved_at(code + moved, size - moved);
        moved += next.length;
        if (next.move == FATHOM_MOVE_NOT || fathom_returns_early(next.move, moved - place)) return FATHOM_FIXED;
        ends = fathom_ends(next.move);
    }
    if (moved < limit) {
        // What follows is not part of the function.
        size_t behind = moved + fathom_padding(code + moved, room - moved);
        if (!ends || behind < limit) return moved < size ? FATHOM_ENTERED : FATHOM_TOO_SHORT;
    }
    for (size_t at = 1; at < limit; at++)
        if (fathom_is_target(targets, function->start + at) || (at < room && fathom_detour_place(code + at, room - at)))
            return FATHOM_ENTERED;
    return FATHOM_HAS_DETOUR;
}

// ---- moving

// Code that is written for a place other than that where it is being written.
struct fathom_mover {
    uint8_t *bytes;
    uint64_t address;  // of bytes[0], where it is going to run
    size_t size;
    int is_far;  // something lies too far away
    // Where the instruction has come to that stood so many bytes behind the first one; 0: nowhere.
    size_t wanted, found;
    // Of each unit that was written: how far behind the first instruction stood what is there, less where it is in the
    // unit.
    uint8_t stood[FATHOM_MOVED_LIMIT / FATHOM_MOVED_UNIT];
    size_t units;
};

static inline void fathom_move_bytes(struct fathom_mover *mover, const void *bytes, size_t size) {
    __builtin_memcpy(mover->bytes + mover->size, bytes, size);
    mover->size += size;
}
static inline void fathom_move_byte(struct fathom_mover *mover, uint8_t byte) { fathom_move_bytes(mover, &byte, 1); }
// Four bytes: the distance of `target` from where they end, and so many bytes more.
static inline void fathom_move_distance(struct fathom_mover *mover, uint64_t target, size_t more) {
    int64_t distance = (int64_t)(target - (mover->address + mover->size + 4 + more));
    int32_t four = (int32_t)distance;
    if (four != distance) mover->is_far = 1;
    fathom_move_bytes(mover, &four, sizeof four);
}

// Moves the first instructions of the function that lies at `address` and can be read at `code`, so that
// FATHOM_DETOUR_SIZE bytes are free, and lets them go on behind these. A call is made as a jump, so that it returns to
// where it would return: return addresses lie in the function alone. A short branch leads to a jump behind them.
// Returns the bytes that were moved; 0 where that cannot be done. `mover->bytes` has room for FATHOM_MOVED_LIMIT bytes.
static inline size_t fathom_move_function(struct fathom_mover *mover, const uint8_t *code, size_t size,
                                          uint64_t address) {
    size_t at = 0, begin = mover->size, branch_count = 0;
    int ends = 0;
    struct {
        uint64_t target;
        size_t end;
        uint8_t stood;
    } branches[(FATHOM_DETOUR_SIZE + 1) / 2];
    while (at < FATHOM_DETOUR_SIZE && !ends) {
        const uint8_t *from = code + at;
        struct fathom_moved moved = fathom_moved_at(from, size - at);
        uint64_t next = address + at + moved.length, target = next + (uint64_t)moved.distance;
        if (at && at == mover->wanted) mover->found = mover->size;
        if (fathom_returns_early(moved.move, at + moved.length)) return 0;
        switch (moved.move) {
        case FATHOM_MOVE_NOT: return 0;
        case FATHOM_MOVE_BRANCH:
            if (from[moved.opcode] == 0x0f) {
                fathom_move_bytes(mover, from, moved.length - 4);
                fathom_move_distance(mover, target, 0);
                break;
            }
            fathom_move_bytes(mover, from, moved.length);
            branches[branch_count].target = target;
            branches[branch_count].end = mover->size;
            branches[branch_count++].stood = (uint8_t)at;
            break;
        case FATHOM_MOVE_JUMP:
            fathom_move_byte(mover, 0xe9);
            fathom_move_distance(mover, target, 0);
            break;
        case FATHOM_MOVE_CALL:
        case FATHOM_MOVE_CALL_AWAY: {
            // pushq 8 bytes behind the jump; the jump; the return address
            static const uint8_t push[] = {0xff, 0x35};
            size_t jump = moved.move == FATHOM_MOVE_CALL ? FATHOM_DETOUR_SIZE : moved.length;
            uint8_t changed[15];
            fathom_move_bytes(mover, push, sizeof push);
            fathom_move_distance(mover, mover->address + mover->size + 4 + jump, 0);
            if (moved.move == FATHOM_MOVE_CALL) {
                fathom_move_byte(mover, 0xe9);
                fathom_move_distance(mover, target, 0);
            } else {
                int32_t four = 0;
                __builtin_memcpy(changed, from, moved.length);
                changed[moved.opcode + 1] = (uint8_t)((changed[moved.opcode + 1] & 0xc7) | 0x20);  // /2, call, to /4
                if (moved.place) {
                    __builtin_memcpy(&four, from + moved.place, sizeof four);
                    fathom_move_bytes(mover, changed, moved.place);
                    fathom_move_distance(mover, next + (uint64_t)(int64_t)four, 0);
                } else {
                    fathom_move_bytes(mover, changed, moved.length);
                }
            }
            fathom_move_bytes(mover, &next, sizeof next);
            ends = 1;
            break;
        }
        case FATHOM_MOVE_DISTANT:
        case FATHOM_MOVE_AS_IT_IS:
        case FATHOM_MOVE_END: {
            int32_t four = 0;
            if (!moved.place) {
                fathom_move_bytes(mover, from, moved.length);
                break;
            }
            size_t behind = moved.length - moved.place - sizeof four;
            __builtin_memcpy(&four, from + moved.place, sizeof four);
            fathom_move_bytes(mover, from, moved.place);
            fathom_move_distance(mover, next + (uint64_t)(int64_t)four, behind);
            fathom_move_bytes(mover, from + moved.place + sizeof four, behind);
            break;
        }
        }
        at += moved.length;
        ends |= fathom_ends(moved.move);
    }
    if (!ends) {
        fathom_move_byte(mover, 0xe9);
        fathom_move_distance(mover, address + at, 0);
    }
    for (mover->units = 0; mover->units * FATHOM_MOVED_UNIT < mover->size - begin; mover->units++)
        mover->stood[mover->units] = (uint8_t)(mover->units * FATHOM_MOVED_UNIT);
    for (size_t i = 0; i < branch_count; i++) {
        while ((mover->size - begin) % FATHOM_MOVED_UNIT) fathom_move_byte(mover, 0xcc);
        mover->bytes[branches[i].end - 1] = (uint8_t)(mover->size - branches[i].end);
        mover->stood[mover->units++] = branches[i].stood;
        fathom_move_byte(mover, 0xe9);
        fathom_move_distance(mover, branches[i].target, 0);
    }
    return mover->is_far ? 0 : at;
}

#endif
