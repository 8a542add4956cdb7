// The layout of `functions`, a file of the session while it is being recorded: which functions the record options name,
// and what is to be done with their calls. There is one only where options name functions.
//
// The recorder knows names, and a traced process knows addresses. So the recorder writes a table for each module: the
// addresses in the module's file at which hooks report the functions that are named. Those of the program and the
// libraries that it needs are there before it starts. A process that finds another module asks for it, and waits for a
// while. The recorder answers requests in their order; its answer is a table, which may be empty.
//
// `fathom ctl` writes such files for a recording that is running, `functions.1`, `functions.2`, ..., with tables of the
// modules that processes have told of until then.
//
// The file begins with a head of FATHOM_FUNCTIONS_HEAD bytes, which is allocated from the start. Tables follow.

#ifndef CTRACEFUNCTIONS_H
#define CTRACEFUNCTIONS_H

#include "CTraceFormat.h"
#include "CTraceRecords.h"
#include "CTraceSum.h"

#define FATHOM_FUNCTIONS_MAGIC 0x31434e5548544146ull  // "FATHUNC1"
#define FATHOM_FUNCTIONS_VERSION 4u
#define FATHOM_FUNCTIONS_HEAD 262144u

// What is to be done with a function's calls: the low 16 bits of a table's word. The rest of the word is an address in
// the module's file. Addresses of user space have 48 bits.
#define FATHOM_SAYS_ONLY 1u     // they and what they call are recorded; other calls are not
#define FATHOM_SAYS_WITHOUT 2u  // neither they nor what they call is recorded
#define FATHOM_SAYS_HIDDEN 4u   // they are not recorded, but what they call is
#define FATHOM_SAYS_HIT 8u      // they are recorded with their callers, and so many levels of what they call
#define FATHOM_SAYS_TRIGGER_SHIFT 4
#define FATHOM_TRIGGER_LIMIT 255u  // the bits above hold a trigger's index + 1
#define FATHOM_LIMIT_LIMIT 15u     // of these, as many as come first may set limits
#define FATHOM_SAYS_TRIGGER 0xff0u
#define FATHOM_SAYS_ARGUMENTS 0x1000u   // the arguments of their calls are recorded
#define FATHOM_SAYS_CLOSED 0x2000u      // if they have sleds, these stay closed
#define FATHOM_SAYS_RESULTS 0x4000u     // what their calls return is recorded, if they have sleds
#define FATHOM_SAYS_CONDITIONS 0x8000u  // of all functions only: some calls are told of for their arguments
#define FATHOM_SAYS_BITS 16
#define FATHOM_SAYS_DETOURS 0x10000u  // of all functions only: those of some modules get detours
// First calls are recorded, and nothing else: the function's first byte is replaced by a trap, which its first call
// takes away. The low 8 bits of such a word are that byte; it stands alone, and a table's words are in ascending order.
#define FATHOM_SAYS_FIRST_CALL 0x2000u
#define FATHOM_ENTRY_BYTE 0xffu

// What happens when a call of a function begins.
#define FATHOM_TRIGGER_START 1u
#define FATHOM_TRIGGER_STOP 2u
#define FATHOM_TRIGGER_SAVE 4u
#define FATHOM_TRIGGER_MARK 8u
#define FATHOM_TRIGGER_DEPTH 16u     // `levels` holds below the call, until it ends
#define FATHOM_TRIGGER_MIN_COST 32u  // and `min_cost_ticks`
#define FATHOM_TRIGGER_KEEP 64u      // the call stays, with those that lead to it, however short

struct fathom_trigger {
    uint32_t does;    // FATHOM_TRIGGER_*
    uint32_t levels;  // below the call that are recorded
    uint64_t min_cost_ticks;
};

// A module's functions: `words` words at `offset`, in any order, behind them the names of those with a mark, behind
// these what is to be recorded of arguments: a struct fathom_arguments, or nothing, and last the functions with
// detours.
struct fathom_function_table {
    uint64_t key;     // fathom_module_key
    uint64_t offset;  // in the file, in bytes
    uint32_t words;
    uint32_t names_size;      // bytes of struct fathom_function_name
    uint32_t arguments_size;  // bytes from the struct fathom_arguments on
    uint32_t detours;         // struct fathom_detour
};
#define FATHOM_TABLE_LIMIT 4096u
#define FATHOM_TABLE_UNKNOWN 0xffffffffu  // in place of `words`: the module's functions could not be read

// A function whose first instructions can be moved, so that a jump takes their place (CDetours.h). They
// stand in the order of their addresses. What is in memory must be what the recorder has judged.
struct fathom_detour {
    uint64_t address;  // in the module's file
    uint8_t code[5];   // what stands there
    // 1: it has hooks, and the detour is for its results alone
    uint8_t has_hooks;
    uint8_t reserved[2];
};

// The name of a function with a mark. The text follows, padded to 8 bytes.
struct fathom_function_name {
    uint64_t address;  // in the module's file
    uint32_t size;
    uint32_t reserved;
};

// ---- Arguments
//
// Where an argument is depends on where the enter hook was called: at each call of a hook, the compiler's debug
// information says which of the registers that a callee saves, or which place in the frame, has the argument. The
// recorder makes steps of that, which the runtime follows when the hook comes from there. By a sled, arguments are
// where the caller has put them, and results are where it looks for them.

// Head of what a module's table says of arguments. `sites` sites follow, in the order of (return_address, function),
// then the steps, and then the layouts, each part padded to 8 bytes.
struct fathom_arguments {
    uint32_t sites;
    uint32_t steps_size;    // bytes, without the padding
    uint32_t layouts_size;  // bytes of struct fathom_layout
    uint32_t reserved;
};

// A call of an enter hook, or a sled.
struct fathom_argument_site {
    uint64_t
        return_address;  // of the hook, in the module's file; the function itself: its first sled; 0: those that end it
    uint64_t function;   // that the hook reports, in the module's file
    uint32_t steps;      // where they begin, in bytes
    uint32_t layout;     // id
};

// What the values are that are recorded at some sites. The text follows, padded to 8 bytes. FORMAT.md says what it is.
struct fathom_layout {
    uint32_t id;  // in the session
    uint32_t size;
};
#define FATHOM_LAYOUT_LIMIT 8192u  // bytes of a text

// A step is one byte, followed by its operands. Steps work on a stack of FATHOM_STEP_DEPTH words, which is empty where
// a value begins. One of the FATHOM_GIVE_* ends each value; FATHOM_STEPS_END ends all.
#define FATHOM_STEPS_END 0u
#define FATHOM_STEP_REGISTER 1u  // 1 byte: a register by its number in DWARF; pushes what it holds, 8 bytes of a vector
#define FATHOM_STEP_CONSTANT 2u  // 8 bytes: pushes them
#define FATHOM_STEP_ADDRESS 3u   // 8 bytes: an address in the module's file; pushes that in memory
#define FATHOM_STEP_ADD 4u       // 8 bytes: adds them to the top
#define FATHOM_STEP_LOAD 5u      // 1 byte: size; what is in memory at the top takes its place
#define FATHOM_STEP_BITS 6u      // 1 byte: lowest bit, 1 byte: number of bits, 1 byte: 1 if the highest is a sign
#define FATHOM_STEP_PLUS 7u      // these take two words and push one
#define FATHOM_STEP_MINUS 8u
#define FATHOM_STEP_AND 9u
#define FATHOM_STEP_OR 10u
#define FATHOM_STEP_SHL 11u
#define FATHOM_STEP_SHR 12u
#define FATHOM_STEP_MUL 13u
#define FATHOM_STEP_XOR 14u
#define FATHOM_STEP_SHRA 15u
#define FATHOM_GIVE_VALUE 16u   // 1 byte: size; the top's low bytes
#define FATHOM_GIVE_MEMORY 17u  // 1 byte: size; what is in memory at the top
#define FATHOM_GIVE_STRING 18u  // the text up to the next NUL in memory at the top
#define FATHOM_GIVE_TEXT 19u    // as many bytes as the top says, in memory at the word below it
#define FATHOM_GIVE_SWIFT 20u   // the text of a Swift String, whose two words are the top ones
// Tests the value that was given last, for a condition: 1 byte: the condition's number, 1 byte: FATHOM_TEST_* for what
// has to hold, 1 byte: how values are compared, 2 bytes: size, and as many bytes of what the value is compared with. A
// condition holds for a call if all of its tests do, and the steps have some.
#define FATHOM_GIVE_CHARACTERS 22u  // 2 bytes: size; the text in memory at the top, up to a NUL or that many bytes
#define FATHOM_GIVE_WIDE 23u        // 1 byte: size of a character; text of such up to a NUL, in memory at the top
#define FATHOM_STEP_TEST 21u
#define FATHOM_STEP_ERROR 24u  // pushes errno, as it is when the function returns
#define FATHOM_STEP_DEPTH 8u
#define FATHOM_CONDITION_LIMIT 16u

#define FATHOM_TEST_EQUAL 0u
#define FATHOM_TEST_NOT_EQUAL 1u
#define FATHOM_TEST_LESS 2u
#define FATHOM_TEST_AT_MOST 3u
#define FATHOM_TEST_GREATER 4u
#define FATHOM_TEST_AT_LEAST 5u
#define FATHOM_TEST_AS_SIGNED 0u    // 8 bytes
#define FATHOM_TEST_AS_UNSIGNED 1u  // 8 bytes
#define FATHOM_TEST_AS_FLOATING 2u  // 4 or 8 bytes, as many as the value has
#define FATHOM_TEST_AS_TEXT 3u
#define FATHOM_TEST_AS_NULL 4u  // no bytes: the text has an address

// Where a sandbox may forbid to read memory safely, only what lies in the function's own stack is read.

// A module that a process has found. Its build-id, and then its path, are in `text`.
struct fathom_function_request {
    uint32_t number;  // of the request, from 1; stored last
    uint16_t build_id_size;
    uint16_t path_size;
    char text[1016];
};
#define FATHOM_REQUEST_LIMIT 64u  // that can wait to be answered

struct fathom_functions {
    uint64_t magic;  // FATHOM_FUNCTIONS_MAGIC
    uint32_t version;
    uint32_t head_size;     // FATHOM_FUNCTIONS_HEAD
    uint32_t says;          // all that any function can say: FATHOM_SAYS_*
    uint32_t levels;        // below a hit that are recorded
    uint32_t trigger_does;  // all that any trigger does
    uint32_t text_limit;    // bytes of an argument's text that are recorded, at most FATHOM_TEXT_LIMIT
    struct fathom_trigger triggers[FATHOM_TRIGGER_LIMIT];  // one that a table names stays as it is
    // What follows changes while processes run.
    uint32_t table_count;  // stored after the table
    uint32_t requested;    // requests made; a futex of the recorder's
    uint32_t answered;     // requests answered; a futex of the processes'
    uint32_t is_final;     // 1: nobody answers requests; what is not here stays unknown
    struct fathom_function_table tables[FATHOM_TABLE_LIMIT];
    struct fathom_function_request requests[FATHOM_REQUEST_LIMIT];
    // How long a call has to take for each condition on arguments, in ticks; this does not change.
    uint64_t condition_ticks[FATHOM_CONDITION_LIMIT];
};

FATHOM_SIZE(fathom_trigger, 16);
FATHOM_SIZE(fathom_function_table, 32);
FATHOM_SIZE(fathom_detour, 16);
FATHOM_SIZE(fathom_arguments, 16);
FATHOM_SIZE(fathom_argument_site, 24);
FATHOM_SIZE(fathom_layout, 8);
FATHOM_SIZE(fathom_function_name, 16);
FATHOM_SIZE(fathom_function_request, 1024);
FATHOM_OFFSET(fathom_functions, triggers, 32);
FATHOM_OFFSET(fathom_functions, table_count, 4112);
FATHOM_OFFSET(fathom_functions, tables, 4128);
_Static_assert(sizeof(struct fathom_functions) <= FATHOM_FUNCTIONS_HEAD, "the head holds it");

FATHOM_PUBLIC_INLINE uint64_t fathom_test_word(const unsigned char *bytes, size_t size) {
    uint64_t word = 0;
    for (size_t i = size < 8 ? size : 8; i > 0; i--) word = word << 8 | bytes[i - 1];
    return word;
}

// What has the order of floating point numbers of `size` bytes as a signed number; both zeros are 0. The traced
// program's vector registers stay as they are.
FATHOM_PUBLIC_INLINE int64_t fathom_test_rank(uint64_t bits, size_t size) {
    if (size == 4) bits = (bits & 0x7fffffffu) | (bits & 0x80000000u) << 32;
    int64_t magnitude = (int64_t)(bits & ~(1ull << 63));
    return bits >> 63 ? -magnitude : magnitude;
}

FATHOM_PUBLIC_INLINE int fathom_test_is_nan(uint64_t bits, size_t size) {
    return size == 4 ? (bits & 0x7fffffffu) > 0x7f800000u : (bits & ~(1ull << 63)) > 0x7ffull << 52;
}

FATHOM_PUBLIC_INLINE int fathom_test_order(uint32_t test, int order) {
    switch (test) {
    case FATHOM_TEST_EQUAL: return order == 0;
    case FATHOM_TEST_NOT_EQUAL: return order != 0;
    case FATHOM_TEST_LESS: return order < 0;
    case FATHOM_TEST_AT_MOST: return order <= 0;
    case FATHOM_TEST_GREATER: return order > 0;
    default: return test == FATHOM_TEST_AT_LEAST && order >= 0;
    }
}

// Whether a value that is recorded as `how` says, FATHOM_VALUE_*, in the `size` bytes at `value`, is what a test asks
// for. Of a value that is not there, nothing holds.
FATHOM_PUBLIC_INLINE int fathom_test_holds(uint32_t test, uint32_t as, const void *operand, size_t operand_size,
                                           uint32_t how, const void *value, size_t size) {
    const unsigned char *a = (const unsigned char *)value, *b = (const unsigned char *)operand;
    int is_text = how == FATHOM_VALUE_TEXT || how == FATHOM_VALUE_CUT;
    if (how == FATHOM_VALUE_NULL)
        return as == FATHOM_TEST_AS_NULL ? fathom_test_order(test, 0)
                                         : as == FATHOM_TEST_AS_TEXT && test == FATHOM_TEST_NOT_EQUAL;
    if (as == FATHOM_TEST_AS_NULL) return is_text && test == FATHOM_TEST_NOT_EQUAL;
    if (as == FATHOM_TEST_AS_TEXT) {
        if (!is_text) return 0;
        for (size_t i = 0; i < size && i < operand_size; i++)
            if (a[i] != b[i]) return fathom_test_order(test, a[i] < b[i] ? -1 : 1);
        // What a text that was cut goes on with is not known, but that it goes on.
        int is_longer = size > operand_size || (size == operand_size && how == FATHOM_VALUE_CUT);
        if (how == FATHOM_VALUE_CUT && size < operand_size) return 0;
        return fathom_test_order(test, is_longer ? 1 : size < operand_size ? -1 : 0);
    }
    if (how != FATHOM_VALUE || size == 0 || size > 8) return 0;
    uint64_t x = fathom_test_word(a, size), y = fathom_test_word(b, operand_size);
    int64_t left = (int64_t)x, right = (int64_t)y;
    switch (as) {
    case FATHOM_TEST_AS_UNSIGNED: return fathom_test_order(test, x < y ? -1 : x > y);
    case FATHOM_TEST_AS_SIGNED: left = (int64_t)(x << (64 - 8 * size)) >> (64 - 8 * size); break;
    case FATHOM_TEST_AS_FLOATING:
        if (operand_size != size || (size != 4 && size != 8)) return 0;
        if (fathom_test_is_nan(x, size) || fathom_test_is_nan(y, size)) return test == FATHOM_TEST_NOT_EQUAL;
        left = fathom_test_rank(x, size);
        right = fathom_test_rank(y, size);
        break;
    default: return 0;
    }
    return fathom_test_order(test, left < right ? -1 : left > right);
}

// Tells modules apart: by their build-id or, where they have none, by their path.
FATHOM_PUBLIC_INLINE uint64_t fathom_module_key(const void *build_id, size_t build_id_size, const void *path,
                                                size_t path_size) {
    return build_id_size ? fathom_hash(build_id, build_id_size) : ~fathom_hash(path, path_size);
}

#endif
