// Functions of aarch64 whose first instruction can be moved, so that a branch takes its place: the function's *detour*.
// The same as CDetours.h has for x86-64. There is less to it, because all instructions have four bytes: nothing can
// lead into the midst of what is changed. (Arm Architecture Reference Manual, "A64 Instruction Set Encoding".)

#ifndef FATHOM_DETOURS_ARM_H
#define FATHOM_DETOURS_ARM_H

#include "CDetours.h"

#define FATHOM_ARM_DETOUR_SIZE 4u
// Instructions that the first one becomes at most, with the branch back.
#define FATHOM_ARM_MOVED_LIMIT 3u

enum fathom_arm_branch {
    FATHOM_ARM_NO_BRANCH,
    FATHOM_ARM_BRANCHES,  // B
    FATHOM_ARM_CALLS,     // BL
    FATHOM_ARM_MAY_BRANCH,
    FATHOM_ARM_BRANCHES_ANYWHERE,  // BR, and what checks the address first
    FATHOM_ARM_CALLS_ANYWHERE,
    FATHOM_ARM_RETURNS,
};

static inline uint32_t fathom_arm_word(const uint8_t *code) {
    uint32_t word;
    __builtin_memcpy(&word, code, sizeof word);
    return word;
}
// The signed number of `bits` bits at `from`.
static inline int64_t fathom_arm_signed(uint32_t word, uint32_t from, uint32_t bits) {
    return (int64_t)((uint64_t)word << (64 - from - bits)) >> (64 - bits);
}

// What a branch is; *distance is that of its target from the instruction itself, where it is known.
static inline enum fathom_arm_branch fathom_arm_branch(uint32_t word, int64_t *distance) {
    *distance = 0;
    if ((word & 0x7c000000) == 0x14000000) {
        *distance = fathom_arm_signed(word, 0, 26) * 4;
        return word >> 31 ? FATHOM_ARM_CALLS : FATHOM_ARM_BRANCHES;
    }
    if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {  // B.cond, CBZ
        *distance = fathom_arm_signed(word, 5, 19) * 4;
        return FATHOM_ARM_MAY_BRANCH;
    }
    if ((word & 0x7e000000) == 0x36000000) {  // TBZ
        *distance = fathom_arm_signed(word, 5, 14) * 4;
        return FATHOM_ARM_MAY_BRANCH;
    }
    if ((word & 0xfe000000) != 0xd6000000) return FATHOM_ARM_NO_BRANCH;
    switch (word >> 21 & 7) {
    case 1: return FATHOM_ARM_CALLS_ANYWHERE;
    case 2: return FATHOM_ARM_RETURNS;
    default: return FATHOM_ARM_BRANCHES_ANYWHERE;
    }
}

// Whether an instruction makes an address out of where it stands: ADR, which has bytes, and ADRP, which has pages.
static inline int fathom_arm_makes_address(uint32_t word, int64_t *distance) {
    *distance = fathom_arm_signed(word, 5, 19) * 4 + (word >> 29 & 3);
    return (word & 0x1f000000) == 0x10000000;
}

// ---- judging

// The general registers that an instruction may read, and those of which it is certain that they are written, a bit
// each. Branches are not asked for.
static inline void fathom_arm_registers(uint32_t code, uint32_t *read, uint32_t *written) {
#define FATHOM_ARM_BIT(shift) ((code >> (shift)&31u) < 31 ? 1u << (code >> (shift)&31u) : 0)
    uint32_t d = FATHOM_ARM_BIT(0), n = FATHOM_ARM_BIT(5), a = FATHOM_ARM_BIT(10), m = FATHOM_ARM_BIT(16);
#undef FATHOM_ARM_BIT
    int is_vector = (code & 1u << 26) != 0;
    *read = d | n | a | m;
    *written = 0;
    switch (code >> 25 & 15u) {
    case 8:
    case 9:  // with an immediate value; movk and bfm keep a part
        if ((code & 0x1f800000) == 0x12800000) *read = (code >> 29 & 3u) == 3 ? d : 0;
        else if ((code & 0x1f800000) == 0x13000000) *read = n | ((code >> 29 & 3u) == 1 ? d : 0);
        else if ((code & 0x1f800000) == 0x13800000) *read = n | m;
        else *read = (code & 0x1f000000) == 0x10000000 ? 0 : n;
        *written = d;
        return;
    case 10:
    case 11:  // system registers
        *read = d;
        if ((code & 0xfff00000) == 0xd5300000) *read = 0, *written = d;
        return;
    case 5:
    case 13:  // with registers; conditional compares and what sets flags alone has no result
        *read = n | m | ((code & 0x1f000000) == 0x1b000000 ? a : 0);
        if ((code & 0x5fe00000) == 0x5ac00000) *read = n | d;
        if ((code & 0x1fe00000) == 0x1a400000 || ((code & 0x1fe00000) == 0x1a000000 && code & 0xfc00)) return;
        *written = d;
        return;
    case 7:
    case 15:  // vectors; some are made of general registers
        *read = (code & 0x5f20fc00) == 0x1e200000 || (code & 0x5f200000) == 0x1e000000 ||
                        (code & 0xbfe0fc00) == 0x0e000c00 || (code & 0xffe0fc00) == 0x4e001c00
                    ? n
                    : 0;
        return;
    case 4:
    case 6:
    case 12:
    case 14: break;  // loads and stores
    default: return;
    }
    uint32_t is_prefetch = code >> 30 == 3 && (code >> 22 & 3u) == 2 && !is_vector;
    if ((code & 0x3b000000) == 0x18000000) {  // relative to the instruction
        *read = 0;
        if (!is_vector && code >> 30 != 3) *written = d;
    } else if ((code & 0x3a000000) == 0x28000000) {  // pairs
        int is_load = (code & 1u << 22) != 0;
        *read = n | (is_vector || is_load ? 0 : d | a);
        if (is_load && !is_vector) *written = d | a;
    } else if ((code & 0x3a000000) == 0x38000000) {
        int is_load = (code >> 22 & 3u) != 0 && !is_vector && !is_prefetch;
        if (code & 1u << 24) *read = n | (is_vector || is_load || is_prefetch ? 0 : d);
        else if ((code & 1u << 21) && (code >> 10 & 3u) == 2) *read = n | m | (is_vector || is_load ? 0 : d);
        else if (code & 1u << 21) return;  // atomic
        else *read = n | (is_vector || is_load || is_prefetch ? 0 : d);
        if (is_load) *written = d;
    }
}

// Where the stack pointer is in a function, the frame pointer, and the return address, as far as following the
// instructions from its beginning tells: bytes below the caller's frame.
struct fathom_arm_frame {
    int64_t depth, frame, saved;
    uint8_t is_known, has_frame, is_saved;
    uint8_t holds;  // x30 holds the return address
};

// What a load or a store does: `size` bytes are moved for each of its registers, at `distance` from what x`base` is
// then.
struct fathom_arm_access {
    uint32_t size, count, base;
    int64_t distance;
    int64_t before, after;  // what is added to the base, before and after the access
    int is_load, is_vector;
};

// Returns whether it is a load or a store by a register and a number.
static inline int fathom_arm_access_of(uint32_t word, struct fathom_arm_access *to) {
    uint32_t high = word >> 30;
    to->is_vector = word >> 26 & 1;
    to->base = word >> 5 & 31;
    to->before = to->after = to->distance = 0;
    if ((word & 0x3a000000) == 0x28000000) {  // pairs
        to->is_load = word >> 22 & 1;
        to->count = 2;
        to->size = to->is_vector ? 4u << high : high & 2 ? 8 : 4;
        int64_t number = fathom_arm_signed(word, 15, 7) * to->size;
        switch (word >> 23 & 3) {
        case 1: to->after = number; break;
        case 3: to->before = number; break;
        default: to->distance = number;
        }
        return 1;
    }
    if ((word & 0x3a000000) != 0x38000000) return 0;
    to->is_load = (word >> 22 & 3) != 0;
    to->count = 1;
    to->size = to->is_vector && (word >> 23 & 1) ? 16 : 1u << high;
    if (to->is_vector) to->is_load = word >> 22 & 1;
    if (word >> 24 & 1) {
        to->distance = (int64_t)(word >> 10 & 0xfff) * to->size;
        return 1;
    }
    int64_t number = fathom_arm_signed(word, 12, 9);
    if (word >> 21 & 1) return 0;
    switch (word >> 10 & 3) {
    case 1: to->after = number; break;
    case 3: to->before = number; break;
    default: to->distance = number;
    }
    return 1;
}

// Follows a load or a store. Returns whether it reads or writes the return address otherwise than functions do that
// save it and take it back.
static inline int fathom_arm_follow_access(struct fathom_arm_frame *at, uint32_t word,
                                           const struct fathom_arm_access *access) {
    int is_stack = access->base == 31, looks = 0;
    int is_frame = access->base == 29 && at->has_frame;
    if (is_stack) at->depth -= access->before;
    int64_t below = (is_stack ? at->depth : at->frame) - access->distance;
    int is_known = is_stack ? at->is_known : is_frame;
    for (uint32_t i = 0; i < access->count; i++, below -= access->size) {
        uint32_t number = i ? word >> 10 & 31 : word & 31;
        int is_address = !access->is_vector && number == 30 && access->size == 8;
        if (is_known && at->is_saved && below >= at->saved && below - access->size < at->saved && !is_address)
            looks = 1;
        if (!is_address) {
            if (access->is_load && !access->is_vector && number == 30) at->holds = 0;
        } else if (access->is_load) {
            at->holds = is_known && at->is_saved && below == at->saved;
        } else if (at->holds && is_known) {
            at->saved = below;
            at->is_saved = 1;
        } else if (at->holds && !is_stack && access->base != 18) {
            // Who reads it there may return a second time, as setjmp's callers do. x18 leads to a shadow of the stack.
            looks = 1;
        }
    }
    if (is_stack) at->depth -= access->after;
    if (!access->is_vector && access->is_load && ((word & 31) == 29 || (access->count == 2 && (word >> 10 & 31) == 29)))
        at->has_frame = 0;
    return looks;
}

// Follows one instruction. Returns whether it looks at the return address.
static inline int fathom_arm_follow(struct fathom_arm_frame *at, uint32_t word) {
    const uint32_t thirty = 1u << 30;
    struct fathom_arm_access access;
    if (fathom_arm_access_of(word, &access)) return fathom_arm_follow_access(at, word, &access);
    if (word == 0xd50320ff) return 1;  // XPACLRI
    uint32_t read, written, d = word & 31, n = word >> 5 & 31;
    fathom_arm_registers(word, &read, &written);
    int looks = at->holds && read & thirty;
    if (written & thirty) at->holds = 0;
    uint32_t group = word >> 25 & 15;
    if ((word & 0xbf800000) == 0x91000000) {  // ADD, SUB with a number
        int64_t number = (int64_t)(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
        if (word >> 30 & 1) number = -number;
        int is_known = n == 31 ? at->is_known : n == 29 && at->has_frame;
        int64_t depth = (n == 31 ? at->depth : at->frame) - number;
        if (d == 31) at->depth = depth, at->is_known = (uint8_t)is_known;
        if (d == 29) at->frame = depth, at->has_frame = (uint8_t)is_known;
    } else if (group == 8 || group == 9 || group == 5 || group == 13) {
        // Register 31 is the stack pointer for those of these that set no flags and have a number, or extend a
        // register.
        int is_logical = (word & 0x1f800000) == 0x12000000, sets_flags = word >> 29 & 1;
        if (is_logical) sets_flags = (word >> 29 & 3) == 3;
        if (d == 31 && !sets_flags && (is_logical || (word & 0x1fe00000) == 0x0b200000)) at->is_known = 0;
        if (d == 29) at->has_frame = 0;
    }
    return looks;
}

// What follows is reached from elsewhere. Where there was no frame until now, there is none.
static inline void fathom_arm_leave(struct fathom_arm_frame *at) {
    at->is_known = at->is_known && at->depth == 0 && !at->is_saved;
    at->holds = !at->is_saved;
}

// The same as fathom_survey, for code of aarch64: both begin at a multiple of four. What a register says is taken for
// the table of a switch where the function makes an address of its own code. Returns whether functions use vectors of
// no fixed size (SVE).
static inline int fathom_arm_survey(const struct fathom_targets *parts, const uint8_t *code, size_t size,
                                    uint64_t address, struct fathom_surveyed *functions, size_t count) {
    struct fathom_surveyed outside = {0}, *function = &outside, *end = functions + count;
    int is_scalable = 0;
    struct fathom_arm_frame frame = {0};
    for (size_t at = 0; at + 4 <= size; at += 4) {
        uint64_t here = address + at;
        while (functions < end && functions->start <= here) {
            function = functions++;
            frame = (struct fathom_arm_frame){.is_known = 1, .holds = 1};
            if (function->start & 3) function->is_undecoded = 1;
        }
        if (here >= function->end) continue;
        uint32_t word = fathom_arm_word(code + at), group = word >> 25 & 15;
        if (group == 2) is_scalable = 1;
        // Not allocated, of the matrix extension, or a branch that compares (FEAT_CMPBR).
        if (group == 0 || group == 1 || group == 3 || (word & 0xfe000000) == 0x74000000) {
            function->is_undecoded = 1;
            continue;
        }
        int64_t distance;
        if (fathom_arm_makes_address(word, &distance)) {
            if (!(word >> 31) && here + (uint64_t)distance - function->start < function->end - function->start)
                function->names_itself = 1;
            if ((word & 31) == 30) frame.holds = 0;
            continue;
        }
        enum fathom_arm_branch branch = fathom_arm_branch(word, &distance);
        uint64_t target = here + (uint64_t)distance;
        switch (branch) {
        case FATHOM_ARM_NO_BRANCH:
            if (fathom_arm_follow(&frame, word)) function->looks = 1;
            break;
        case FATHOM_ARM_CALLS:
        case FATHOM_ARM_CALLS_ANYWHERE: frame.holds = 0; break;
        case FATHOM_ARM_MAY_BRANCH:
            if (target < function->start || target >= function->end) fathom_target(parts, target);
            if (target == function->start) function->loops = 1;
            break;
        case FATHOM_ARM_BRANCHES:
            if (target == function->start) function->loops = 1;
            fathom_arm_leave(&frame);
            break;
        case FATHOM_ARM_BRANCHES_ANYWHERE: function->jumps_away = 1; __attribute__((fallthrough));
        case FATHOM_ARM_RETURNS: fathom_arm_leave(&frame); break;
        }
    }
    return is_scalable;
}

// Whether an instruction makes a frame, signs the return address, or is the mark of what may be called: compilers let
// no table lead back to one.
static inline int fathom_arm_begins(uint32_t word) {
    struct fathom_arm_access access;
    if (word == 0xd503233f || word == 0xd503237f || word == 0xd503245f) return 1;      // PACIASP, PACIBSP, BTI c
    if ((word & 0xff8003ff) == 0xd10003ff) return 1;                                   // SUB of the stack pointer
    return fathom_arm_access_of(word, &access) && access.base == 31 && access.before;  // and what stores behind it
}

// ---- moving

// Writes what does the same as `word`, which stands at `from`, at `to`, and a branch back to what follows. Returns how
// many instructions these are; 0 where it cannot be moved. *before is how many come before the branch back.
static inline uint32_t fathom_arm_move(uint32_t word, uint64_t from, uint64_t to, uint32_t *moved, uint32_t *before) {
    int64_t distance;
    uint32_t count = 0, d = word & 31;
#define FATHOM_ARM_B(target)                                                                                           \
    do {                                                                                                               \
        int64_t away = (int64_t)((target) - (to + 4 * count));                                                         \
        if (away < -(1ll << 27) || away >= 1ll << 27) return 0;                                                        \
        moved[count++] = 0x14000000u | ((uint32_t)(away >> 2) & 0x3ffffffu);                                           \
    } while (0)
#define FATHOM_ARM_ADRP(address)                                                                                       \
    do {                                                                                                               \
        int64_t pages = (int64_t)((address) >> 12) - (int64_t)((to + 4 * count) >> 12);                                \
        if (pages < -(1ll << 20) || pages >= 1ll << 20) return 0;                                                      \
        moved[count++] =                                                                                               \
            0x90000000u | d | ((uint32_t)pages & 3) << 29 | (uint32_t)((uint64_t)pages >> 2 & 0x7ffff) << 5;           \
    } while (0)
    enum fathom_arm_branch branch = fathom_arm_branch(word, &distance);
    switch (branch) {
    case FATHOM_ARM_BRANCHES: FATHOM_ARM_B(from + (uint64_t)distance); break;
    case FATHOM_ARM_MAY_BRANCH: {
        if ((word & 0xff000000) == 0x54000000) return 0;  // it goes by its caller's flags
        // Over the branch back, to one that leads far.
        uint32_t field = (word & 0x7e000000) == 0x36000000 ? 0x3fffu << 5 : 0x7ffffu << 5;
        moved[count++] = (word & ~field) | 2u << 5;
        *before = count;
        FATHOM_ARM_B(from + 4);
        FATHOM_ARM_B(from + (uint64_t)distance);
        return count;
    }
    case FATHOM_ARM_CALLS:
    case FATHOM_ARM_CALLS_ANYWHERE: return 0;
    case FATHOM_ARM_BRANCHES_ANYWHERE:
    case FATHOM_ARM_RETURNS: moved[count++] = word; break;
    case FATHOM_ARM_NO_BRANCH:
        if (fathom_arm_makes_address(word, &distance)) {
            uint64_t page = (from & ~0xfffull) + ((uint64_t)distance << 12), made = from + (uint64_t)distance;
            if (d == 31) return 0;
            FATHOM_ARM_ADRP(word >> 31 ? page : made);
            if (!(word >> 31)) moved[count++] = 0x91000000u | d << 5 | d | (uint32_t)(made & 0xfff) << 10;
        } else if ((word & 0x3b000000) == 0x18000000) {
            // LDR of a word nearby: of 4 bytes, 8, or 4 with a sign. The others have no register for the address.
            uint32_t kind = word >> 30, scale = kind == 1 ? 3 : 2;
            static const uint32_t loads[] = {0xb9400000u, 0xf9400000u, 0xb9800000u};
            uint64_t place = from + (uint64_t)fathom_arm_signed(word, 5, 19) * 4;
            if (kind == 3 || word >> 26 & 1 || d == 31 || place & ((1u << scale) - 1)) return 0;
            FATHOM_ARM_ADRP(place);
            moved[count++] = loads[kind] | d << 5 | d | (uint32_t)((place & 0xfff) >> scale) << 10;
        } else if ((word & 0xff000000) == 0xd4000000 || word == 0xd50324ff) {
            return 0;  // what the kernel or a debugger looks at; PACM, which is one with what follows
        } else {
            moved[count++] = word;
        }
    }
    *before = count;
    FATHOM_ARM_B(from + 4);
    return count;
#undef FATHOM_ARM_B
#undef FATHOM_ARM_ADRP
}

// Judges a function that was surveyed, and whose first byte is at `code`. Its first instruction is going to be moved
// less far than 128 MB.
static inline enum fathom_verdict fathom_arm_judge(const struct fathom_surveyed *function, const uint8_t *code) {
    if (function->is_undecoded || function->start & 3) return FATHOM_NOT_DECODED;
    if (function->end - function->start < FATHOM_ARM_DETOUR_SIZE) return FATHOM_TOO_SHORT;
    uint32_t word = fathom_arm_word(code), moved[FATHOM_ARM_MOVED_LIMIT], before;
    if (function->loops || (function->names_itself && function->jumps_away && !fathom_arm_begins(word)))
        return FATHOM_LOOPS;
    if (function->looks) return FATHOM_LOOKS;
    if (!fathom_arm_move(word, function->start, function->start, moved, &before)) return FATHOM_FIXED;
    return FATHOM_HAS_DETOUR;
}

#endif
