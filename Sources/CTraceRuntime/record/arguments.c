// Follows the steps by which the recorder says where arguments are, and writes the values into the chunk.
//
// Nothing here trusts the steps or the program: the stack of words has an end, the record has an end, and memory is
// read in ways that no address can harm.

#include "arguments.h"

#include "../follow/registers.h"
#include "../session/arguments.h"
#include "../session/await.h"
#include "chunk.h"

#include <errno.h>

FATHOM_WITHOUT_HOOKS

// What one record is made from.
struct making {
    const struct event *event;
    struct argument_steps steps;
    struct argument_memory memory;
    char *to, *end;  // of the record
    // The value that is being found.
    uint64_t stack[FATHOM_STEP_DEPTH];
    uint32_t depth;
    int is_lost;  // something that it takes cannot be read
    // The value that was given last.
    const char *value;
    // The conditions that something was tested for, and those of them that do not hold.
    uint32_t tested, failed;
    int is_whole;  // all steps were done
};

static uint64_t operand(struct making *m, size_t size) {
    uint64_t value = 0;
    if (size > (size_t)(m->steps.end - m->steps.next)) {
        m->steps.next = m->steps.end;
        return 0;
    }
    __builtin_memcpy(&value, m->steps.next, size);
    m->steps.next += size;
    return value;
}

static void push(struct making *m, uint64_t value) {
    if (m->depth < FATHOM_STEP_DEPTH) m->stack[m->depth++] = value;
    else m->is_lost = 1;
}

static uint64_t pop(struct making *m) {
    if (m->depth) return m->stack[--m->depth];
    m->is_lost = 1;
    return 0;
}

static int find_register(const struct event *event, uint32_t number, uint64_t *value) {
    if (event->is_sled || ends_calls(event->hook))
        return sled_register_value(event->call.registers, event->stack_pointer, number, value);
    return register_value(event->call.registers, number, value);
}

static uint64_t load(struct making *m, uint64_t address, size_t size) {
    uint64_t value = 0;
    if (m->is_lost || size > sizeof value || arguments_read(&value, address, size, &m->memory) < size) m->is_lost = 1;
    return value;
}

static uint64_t compute(struct making *m, uint32_t step) {
    uint64_t b = pop(m), a = pop(m);
    switch (step) {
    case FATHOM_STEP_PLUS: return a + b;
    case FATHOM_STEP_MINUS: return a - b;
    case FATHOM_STEP_AND: return a & b;
    case FATHOM_STEP_OR: return a | b;
    case FATHOM_STEP_XOR: return a ^ b;
    case FATHOM_STEP_MUL: return a * b;
    case FATHOM_STEP_SHL: return b < 64 ? a << b : 0;
    case FATHOM_STEP_SHR: return b < 64 ? a >> b : 0;
    default: return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
    }
}

static uint64_t take_bits(struct making *m) {
    uint32_t low = (uint32_t)operand(m, 1) & 63, count = (uint32_t)operand(m, 1) & 63;
    int is_signed = operand(m, 1) != 0;
    uint64_t value = pop(m) >> low;
    if (!count) return value;
    value &= (1ull << count) - 1;
    if (is_signed && value >> (count - 1)) value |= ~0ull << count;
    return value;
}

// ---- values

static void give_byte(struct making *m, uint32_t how) { *m->to++ = (char)how; }

// Whether the record can take a value of `size` bytes, so that each value that may follow has room for its first byte.
static int has_room(const struct making *m, size_t size) {
    return size + 3 + FATHOM_ARGUMENT_COUNT_LIMIT < (size_t)(m->end - m->to);
}

static void give_memory(struct making *m, uint64_t address, size_t size) {
    if (m->is_lost) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    if (!has_room(m, size)) return give_byte(m, FATHOM_VALUE_NO_ROOM);
    if (arguments_read(m->to + 1, address, size, &m->memory) < size) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    give_byte(m, FATHOM_VALUE);
    m->to += size;
}

static void give_value(struct making *m, uint64_t value, size_t size) {
    if (m->is_lost || size > sizeof value) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    if (!has_room(m, size)) return give_byte(m, FATHOM_VALUE_NO_ROOM);
    give_byte(m, FATHOM_VALUE);
    __builtin_memcpy(m->to, &value, size);
    m->to += size;
}

// The text has `size` bytes as far as it was asked for, of which `got` could be read, and they are in their place.
static void end_text(struct making *m, size_t got, int is_cut) {
    uint16_t size = (uint16_t)got;
    give_byte(m, is_cut ? FATHOM_VALUE_CUT : FATHOM_VALUE_TEXT);
    __builtin_memcpy(m->to, &size, sizeof size);
    m->to += sizeof size + got;
}

static void give_text(struct making *m, uint64_t address, uint64_t size) {
    size_t limit = arguments_text_limit(), wanted = size < limit ? (size_t)size : limit;
    if (m->is_lost) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    if (!has_room(m, wanted)) return give_byte(m, FATHOM_VALUE_NO_ROOM);
    if (wanted && arguments_read(m->to + 3, address, wanted, &m->memory) < wanted)
        return give_byte(m, FATHOM_VALUE_UNREADABLE);
    end_text(m, wanted, size > wanted);
}

// A Swift String (StringObject.swift in Swift's standard library): a short one is in the two words themselves, with its
// size in the highest byte; of another one, the second word is the address less 32, with flags in the highest bits.
// What has no bytes of UTF-8 in memory, as no string has on Linux, counts as not readable.
static void give_swift(struct making *m, uint64_t words[2]) {
    uint64_t size = words[1] >> 56 & 15, limit = arguments_text_limit();
    if (!(words[1] & 1ull << 61)) {
        if (words[1] & 1ull << 60) m->is_lost = 1;
        return give_text(m, (words[1] & (1ull << 60) - 1) + 32, words[0] & (1ull << 48) - 1);
    }
    if (m->is_lost) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    if (!has_room(m, 16)) return give_byte(m, FATHOM_VALUE_NO_ROOM);
    __builtin_memcpy(m->to + 3, words, 16);
    end_text(m, size < limit ? size : limit, size > limit);
}

// A text that goes on into memory that cannot be read counts as one that is too long.
static void give_string(struct making *m, uint64_t address) {
    size_t limit = arguments_text_limit(), got = 0, size = 0;
    char *text = m->to + 3;
    if (m->is_lost) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    if (!address) return give_byte(m, FATHOM_VALUE_NULL);
    if (!has_room(m, limit + 1)) return give_byte(m, FATHOM_VALUE_NO_ROOM);
    // One byte more tells whether the text ends there.
    while (got <= limit) {
        size_t some = limit + 1 - got, page = 4096 - ((address + got) & 4095);
        if (some > page) some = page;
        size_t now = arguments_read(text + got, address + got, some, &m->memory);
        for (; size < got + now && text[size]; size++) continue;
        if (size < got + now) return end_text(m, size, 0);
        got += now;
        if (now < some) break;
    }
    if (!got) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    end_text(m, got < limit ? got : limit, 1);
}

// The text ends at a NUL, or where the array of characters does.
static void give_characters(struct making *m, uint64_t address, size_t size) {
    size_t limit = arguments_text_limit(), wanted = size < limit ? size : limit, got = 0;
    if (m->is_lost) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    if (!has_room(m, wanted)) return give_byte(m, FATHOM_VALUE_NO_ROOM);
    if (wanted && arguments_read(m->to + 3, address, wanted, &m->memory) < wanted)
        return give_byte(m, FATHOM_VALUE_UNREADABLE);
    while (got < wanted && m->to[3 + got]) got++;
    end_text(m, got, got == wanted && size > wanted);
}

// A text of characters that have `unit` bytes, up to one that is 0. Its size is in bytes.
static void give_wide(struct making *m, uint64_t address, size_t unit) {
    size_t limit = arguments_text_limit() / unit * unit, got = 0;
    char *text = m->to + 3;
    if (m->is_lost || (unit != 2 && unit != 4)) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    if (!address) return give_byte(m, FATHOM_VALUE_NULL);
    if (!has_room(m, limit)) return give_byte(m, FATHOM_VALUE_NO_ROOM);
    for (; got < limit; got += unit) {
        uint32_t character = 0;
        if (arguments_read(&character, address + got, unit, &m->memory) < unit) break;
        if (!character) return end_text(m, got, 0);
        __builtin_memcpy(text + got, &character, unit);
    }
    if (!got && limit) return give_byte(m, FATHOM_VALUE_UNREADABLE);
    end_text(m, got, 1);
}

static void test(struct making *m) {
    uint32_t bit = 1u << (operand(m, 1) & (FATHOM_CONDITION_LIMIT - 1));
    uint32_t comparison = (uint32_t)operand(m, 1), as = (uint32_t)operand(m, 1);
    size_t size = operand(m, 2);
    const uint8_t *with = m->steps.next;
    if (size > (size_t)(m->steps.end - with) || !m->value) {
        m->steps.next = m->steps.end;
        return;
    }
    m->steps.next += size;
    uint32_t how = (uint8_t)*m->value;
    // The two bytes of a text's size stand before it.
    size_t before = how == FATHOM_VALUE_TEXT || how == FATHOM_VALUE_CUT ? 3 : 1;
    size_t got = (size_t)(m->to - m->value);
    m->tested |= bit;
    if (got < before || !fathom_test_holds(comparison, as, with, size, how, m->value + before, got - before))
        m->failed |= bit;
}

// Does one step. 0: that was the last.
static int do_step(struct making *m) {
    if (m->steps.next >= m->steps.end || m->to + 1 >= m->end) return 0;
    uint32_t step = *m->steps.next++;
    uint64_t value = 0, other;
    const char *given = m->to;
    switch (step) {
    case FATHOM_STEPS_END: m->is_whole = 1; return 0;
    case FATHOM_STEP_TEST: test(m); return 1;
    case FATHOM_STEP_REGISTER:
        if (!find_register(m->event, (uint32_t)operand(m, 1), &value)) m->is_lost = 1;
        push(m, value);
        return 1;
    case FATHOM_STEP_CONSTANT: push(m, operand(m, 8)); return 1;
    case FATHOM_STEP_ADDRESS: push(m, operand(m, 8) + m->steps.bias); return 1;
    case FATHOM_STEP_ADD:
        value = pop(m);
        push(m, value + operand(m, 8));
        return 1;
    case FATHOM_STEP_LOAD:
        value = pop(m);
        push(m, load(m, value, operand(m, 1)));
        return 1;
    case FATHOM_STEP_ERROR: push(m, (uint64_t)errno); return 1;
    case FATHOM_STEP_BITS: push(m, take_bits(m)); return 1;
    case FATHOM_GIVE_VALUE:
        value = pop(m);
        give_value(m, value, operand(m, 1));
        break;
    case FATHOM_GIVE_MEMORY:
        value = pop(m);
        give_memory(m, value, operand(m, 1));
        break;
    case FATHOM_GIVE_STRING: give_string(m, pop(m)); break;
    case FATHOM_GIVE_TEXT:
        other = pop(m);
        value = pop(m);
        give_text(m, value, other);
        break;
    case FATHOM_GIVE_CHARACTERS:
        value = pop(m);
        give_characters(m, value, operand(m, 2));
        break;
    case FATHOM_GIVE_WIDE:
        value = pop(m);
        give_wide(m, value, operand(m, 1));
        break;
    case FATHOM_GIVE_SWIFT:
        other = pop(m);
        value = pop(m);
        give_swift(m, (uint64_t[]){value, other});
        break;
    default:
        if (step < FATHOM_STEP_PLUS || step > FATHOM_STEP_SHRA) return 0;
        push(m, compute(m, step));
        return 1;
    }
    m->value = given;
    m->depth = 0;
    m->is_lost = 0;
    return 1;
}

// ---- the record

// How far above `sp` the stack is sure to be there: to its end where that is known, or else to the end of the page.
static uintptr_t stack_end(struct thread *t, uintptr_t sp) {
    const struct lane *lane = running_lane(t);
    if ((lane->exact || lane->has_top) && lies_on(sp, lane->low, lane->high)) return lane->high;
    return (sp | 4095) + 1;
}

static uint32_t put(struct thread *t, const struct event *event, uintptr_t site, uintptr_t function, uint32_t record) {
    struct writer *w = writer_of(t);
    const char *limit = writer_end(w);
    if (!limit || w->cursor + FATHOM_ARGUMENTS_LIMIT > limit + RECORD_ROOM) return 0;
    struct making making = {.event = event};
    if (!arguments_find(site, function, &making.steps)) return 0;
    making.memory = (struct argument_memory){event->stack_pointer, stack_end(t, event->stack_pointer), t->id};
    char *start = w->cursor + 4;
    making.to = start + sizeof making.steps.layout;
    making.end = w->cursor + FATHOM_ARGUMENTS_LIMIT - 1;  // 1: for the padding
    __builtin_memcpy(start, &making.steps.layout, sizeof making.steps.layout);
    while (do_step(&making)) continue;
    if ((making.to - start) % 2) give_byte(&making, 0);
    fathom_put_head(w->cursor, record, (uint16_t)(making.to - start));
    w->cursor = making.to;
    return making.is_whole ? making.tested & ~making.failed : 0;
}

uint32_t arguments_put(struct thread *t, const struct event *enter) {
    const struct registers *registers = enter->call.registers;
    uintptr_t function = enter->call.function;
    if (!registers) return 0;
    if (enter->is_sled) return put(t, enter, function, function, FATHOM_ARGUMENTS);
    if (registers_stack_pointer(registers) != enter->stack_pointer) return 0;
    return put(t, enter, registers_return_address(registers), function, FATHOM_ARGUMENTS);
}

void arguments_put_result(struct thread *t, uintptr_t function, const struct event *exit) {
    if (exit->call.registers) put(t, exit, RESULT_SITE, function, FATHOM_RESULT);
}

// Which open calls fulfil conditions on their arguments.
//
// A call is known by its thread and the time when it began. Both are hashed, and the call's word is stored in that
// place, over one that is there. So nothing has to be taken away of calls that end in other ways, nothing is searched
// for, and of a thousand open calls that fulfil conditions, some may be forgotten, which then lead to no save.

#define PLACE_BITS 10
#define TIME_BITS 48
static uint64_t places[1u << PLACE_BITS];  // the low bits of the time, and behind them the conditions

_Static_assert(TIME_BITS + FATHOM_CONDITION_LIMIT <= 64, "a word holds both");

static uint64_t *place_of(const struct thread *t, const struct frame *call) {
    uint64_t key = call->enter ^ (uint64_t)t->serial << TIME_BITS;
    return &places[key * 0x9e3779b97f4a7c15ull >> (64 - PLACE_BITS)];
}

static uint64_t time_of(const struct frame *call) { return call->enter << (64 - TIME_BITS); }

void conditions_note(const struct thread *t, const struct frame *call, uint32_t conditions) {
    if (!conditions) return;
    // Relaxed: the thread itself looks there.
    __atomic_store_n(place_of(t, call), time_of(call) | conditions, __ATOMIC_RELAXED);
}

void conditions_tell(const struct thread *t, const struct frame *call, uint64_t now) {
    uint64_t *place = place_of(t, call), word = __atomic_load_n(place, __ATOMIC_RELAXED);
    uint64_t rest = word ^ time_of(call);
    uint32_t conditions = (uint32_t)rest;
    if (!rest || rest >> FATHOM_CONDITION_LIMIT || call->stack_pointer & FRAME_INHERITED) return;
    __atomic_store_n(place, 0, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < FATHOM_CONDITION_LIMIT; i++)
        if (now - call->enter < named_functions.condition_ticks[i]) conditions &= ~(1u << i);
    struct fathom_long_call ended = {call->function, now, now - call->enter};
    if (conditions) requests_tell(t->serial, &ended, conditions);
}

FATHOM_WITHOUT_HOOKS_END
