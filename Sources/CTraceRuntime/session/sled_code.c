// Writes sleds (CTraceSleds/sleds.c). An open sled is one instruction as long as the sled, so that no thread
// is ever inside one: a call, or at a function's end a jump, with prefixes that mean nothing. A closed sled ends, or
// jumps over its rest, with its first two bytes. So, all sleds of a module at once:
//
//   opening   a sled that is one long nop becomes a jump over its rest, which is the same; then the rest is written,
//             which nobody executes; then the first two bytes make it a call
//   closing   the same backwards
//
// Each step is one store of two bytes at an even address, or to bytes that nobody executes, and between the steps all
// processors are made to take notice. Whoever executes a sled meanwhile executes what it was or what it becomes.

#include "sled_module.h"

#include "functions.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

// ---- what sleds are made of

struct bytes {
    uint8_t head[2], rest[SLED_SIZE - 2];
};
// As LLVM makes them: a jump over the rest, and a return.
static const struct bytes jump = {{0xeb, 0x09}, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}};
static const struct bytes leave = {{0xc3, 0x2e}, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}};
// As `fathom build` makes a jump: one instruction.
static const struct bytes nop = {{0x66, 0x66}, {0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}};
// The prefixes of an open sled: segments that nothing is read from, of which there are four. Those that stand for two
// bits each tell how far behind the function's beginning the sled lies, and what it was (sled_distance).
#define PREFIX_OF(bits) ((uint8_t)(0x26 | ((bits)&3) << 3))
#define DISTANCE_LIMIT 128u
#define JUMP 0xe9

static uint16_t head_of(const struct bytes *bytes) { return (uint16_t)(bytes->head[0] | bytes->head[1] << 8); }
static const uint16_t open_head = SLED_PREFIX | SLED_PREFIX << 8;
// The first two bytes of a sled that is being opened or closed.
static uint16_t between_head(const struct sled *sled) { return head_of(sled->kind == KIND_EXIT ? &leave : &jump); }

static int is_there(uintptr_t address, const struct bytes *bytes) {
    return __builtin_memcmp((const void *)address, bytes, SLED_SIZE) == 0;
}
int sled_closed(const struct sled *sled) {
    uintptr_t address = address_of(sled);
    return sled->kind == KIND_EXIT ? is_there(address, &leave) : is_there(address, &jump) || is_there(address, &nop);
}
int sled_open(const struct sled *sled) {
    const uint8_t *bytes = (const uint8_t *)address_of(sled);
    return bytes[0] == SLED_PREFIX && bytes[1] == SLED_PREFIX &&
           bytes[SLED_CALL_PLACE] == (sled->kind == KIND_EXIT ? JUMP : SLED_CALL);
}

// ---- writing

// The stub that a sled leads to; SLED_STUB_COUNT when there is none for it.
static uint32_t stub_of(const struct sled_module *module, const struct sled *sled, uint8_t mark) {
    static const uint8_t behind[] = {[SLED_enter_0] = 0, [SLED_enter_1] = 1, [SLED_enter_4] = 4, [SLED_enter_5] = 5};
    if (sled->kind == KIND_EXIT) return SLED_leave;
    if (sled->kind == KIND_TAIL) return SLED_tail;
    uintptr_t distance = address_of(sled) - function_of(sled);
    for (uint32_t i = 0; i < sizeof behind && mark != MARK_AGAIN; i++)
        if (distance == behind[i]) return i;
    return distance < DISTANCE_LIMIT && module->stub_count > SLED_enter_again ? SLED_enter_again : SLED_STUB_COUNT;
}

static void write_stubs(struct sled_module *module) {
    if (!module->is_prepared)
        __builtin_memcpy(module->stubs_before, (const void *)module->stubs, module->stub_count * SLED_STUB_SIZE);
    module->is_prepared = 1;
    for (uint32_t i = 0; i < module->stub_count; i++) {
        // jmp *0(%rip), and the target behind it: no register is free.
        uint8_t code[14] = {0xff, 0x25};
        __builtin_memcpy(code + 6, &sled_targets[i], sizeof(uintptr_t));
        __builtin_memcpy((void *)(module->stubs + i * SLED_STUB_SIZE), code, sizeof code);
    }
}

// What stands behind the first two bytes of an open sled.
static void write_rest(const struct sled_module *module, const struct sled *sled, uint8_t mark) {
    uintptr_t address = address_of(sled), target = module->stubs + stub_of(module, sled, mark) * SLED_STUB_SIZE;
    uintptr_t behind = address - function_of(sled);
    uint8_t was_nop = ((const uint8_t *)address)[2] == nop.rest[0];
    int32_t distance = (int32_t)(target - (address + SLED_SIZE));
    uint8_t rest[SLED_SIZE - 2] = {PREFIX_OF(behind), PREFIX_OF(behind >> 2), PREFIX_OF(behind >> 4),
                                   PREFIX_OF((was_nop ? 0 : 1) | (behind >> 5 & 2)),
                                   sled->kind == KIND_EXIT ? JUMP : SLED_CALL};
    __builtin_memcpy(rest + 5, &distance, sizeof distance);
    __builtin_memcpy((void *)(address + 2), rest, sizeof rest);
}

static int was_nop(const struct sled *sled) { return (((const uint8_t *)address_of(sled))[5] & 8) == 0; }

int sleds_can_be_opened(const struct sled_module *module, const struct sled *first, const struct sled *last,
                        uint8_t mark) {
    for (const struct sled *sled = first; sled < last; sled++) {
        uintptr_t address = address_of(sled);
        if (sled->version != SLED_VERSION || sled->kind > KIND_ENTER_ARGUMENTS || address % 2 != 0 ||
            !span_of(module, address, SLED_SIZE) || stub_of(module, sled, mark) == SLED_STUB_COUNT)
            return 0;
        intptr_t distance = (intptr_t)(module->stubs - (address + SLED_SIZE));
        if (distance != (int32_t)distance || distance > INT32_MAX - (intptr_t)(SLED_STUB_COUNT * SLED_STUB_SIZE))
            return 0;
        if (!sled_closed(sled) && !sled_open(sled)) return 0;
    }
    return 1;
}

// ---- making code writable

static void end_changes(const struct sled_module *module, uint32_t spans) {
    for (uint32_t i = 0; i < spans; i++)
        if (module->spans[i].to) patch_end(&module->spans[i].patch);
}

static long begin_changes(struct sled_module *module) {
    for (uint32_t i = 0; i < module->span_count; i++) {
        struct span *span = &module->spans[i];
        long error = span->to ? patch_begin(&span->patch, span->from, span->to) : 0;
        if (error >= 0) continue;
        end_changes(module, i);
        return error;
    }
    return 0;
}

static int spread_changes(const struct sled_module *module) {
    for (uint32_t i = 0; i < module->span_count; i++)
        if (module->spans[i].to && !patch_spread(&module->spans[i].patch)) return 0;
    return 1;
}

long sleds_open_marked(struct sled_module *module, const uint8_t *marked) {
    size_t count = (size_t)(module->last - module->first);
    long error = begin_changes(module);
    if (error < 0) return error;
    runtime.has_sleds = runtime.can_close = 1;
    vectors_matter = 1;
    write_stubs(module);
    for (int step = 0; step < 3; step++) {
        for (size_t i = 0; i < count; i++) {
            const struct sled *sled = &module->first[i];
            if (!marked[i]) continue;
            if (step == 0) patch_head(address_of(sled), between_head(sled));
            else if (step == 1) write_rest(module, sled, marked[i]);
            else patch_head(address_of(sled), open_head);
        }
        if (!spread_changes(module)) return -1;
    }
    end_changes(module, module->span_count);
    return 0;
}

long sleds_close_marked(struct sled_module *module, const uint8_t *marked) {
    size_t count = (size_t)(module->last - module->first);
    long error = begin_changes(module);
    if (error < 0) return error;
    for (int step = 0; step < 3; step++) {
        for (size_t i = 0; i < count; i++) {
            const struct sled *sled = &module->first[i];
            uintptr_t address = address_of(sled);
            if (!marked[i]) continue;
            if (step == 0) {
                patch_head(address, between_head(sled));
            } else if (step == 1) {
                const struct bytes *bytes = sled->kind == KIND_EXIT ? &leave : was_nop(sled) ? &nop : &jump;
                __builtin_memcpy((void *)(address + 2), bytes->rest, sizeof bytes->rest);
            } else if (((const uint8_t *)address)[2] == nop.rest[0] && sled->kind != KIND_EXIT) {
                patch_head(address, head_of(&nop));
            }
        }
        if (!spread_changes(module)) return -1;
    }
    end_changes(module, module->span_count);
    return 0;
}

void sled_stubs_restore(struct sled_module *module) {
    if (!module->is_prepared || begin_changes(module) < 0) return;
    __builtin_memcpy((void *)module->stubs, module->stubs_before, module->stub_count * SLED_STUB_SIZE);
    spread_changes(module);
    end_changes(module, module->span_count);
}

FATHOM_WITHOUT_HOOKS_END

#endif
