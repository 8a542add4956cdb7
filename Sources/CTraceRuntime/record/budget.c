// Closes the sleds of functions that cost more than they tell: those that are called most and take the least time. A
// function whose calls take long costs little, however much time is spent in it.

#include "budget.h"

#include "../file/sleds.h"
#include "../host/runtime.h"

FATHOM_WITHOUT_HOOKS

// What recording a call takes, in ns (Documentation/decisions/runtime.md).
#define CALL_NS 20u
// Functions whose calls take this much or more, without their callees, are not closed: a hundredth of it is CALL_NS.
#define LONG_NS 2000u
#define PLACES 1024u  // a power of two
#define MOST 64u      // functions closed at once

struct count {
    uintptr_t function;
    uint32_t calls;
    uint64_t ticks;  // between each call's beginning and the next record
};
// Under `lock`. The thread's stack may be small.
static struct count counts[PLACES];
static uint32_t lock;

// The thread's processor time at its last look; 0: there was none.
static __thread uint64_t looked __attribute__((tls_model("initial-exec")));

static struct count *count_of(uintptr_t function) {
    uint64_t place = (uint64_t)function * 0x9e3779b97f4a7c15ull >> 54;
    for (uint32_t tries = 0; tries < 16; tries++, place++) {
        struct count *count = &counts[place % PLACES];
        if (!count->function) count->function = function;
        if (count->function == function) return count;
    }
    return NULL;
}

static void count_calls(const struct fathom_chunk *chunk) {
    const char *record = (const char *)(chunk + 1) + chunk->path_count * sizeof(struct fathom_path_entry);
    const char *end = (const char *)(chunk + 1) + chunk->used;
    uint64_t base = chunk->function_base;
    struct count *last = NULL;
    while (record + 2 <= end) {
        uint32_t size = fathom_record_size(record, (size_t)(end - record));
        if (record + size > end) return;
        uint64_t word = 0;
        __builtin_memcpy(&word, record, size < sizeof word ? 2 : sizeof word);
        uint32_t value = (uint16_t)word >> 1;
        uint32_t delta = word & 1 || value < FATHOM_SPECIAL ? value : 0;
        if (last) last->ticks += delta;
        last = NULL;
        if (word & 1) {
            last = count_of(base << 32 | word >> 32);
            if (last) last->calls++;
        } else if (value == FATHOM_BASE) {
            uint32_t half;
            __builtin_memcpy(&half, record + 2, sizeof half);
            base = half;
        }
        record += size;
    }
}

// The function that was called most of those whose calls are short; NULL when there is none.
static struct count *take_most(uint64_t long_ticks) {
    struct count *most = NULL;
    for (struct count *count = counts; count < counts + PLACES; count++) {
        if (!count->calls || count->ticks / count->calls >= long_ticks) continue;
        if (!most || count->calls > most->calls) most = count;
    }
    return most;
}

void budget_look(const struct fathom_chunk *chunk, uint64_t processor_ns) {
    uint64_t before = looked, spent = processor_ns - before, calls = chunk->calls;
    looked = processor_ns;
    if (!before || calls * CALL_NS * 100 <= spent * runtime.head.budget) return;
    // Whoever finds another thread at it looks at its next chunk.
    if (!fathom_swap32(&lock, 0, 1)) return;
    uint64_t allowed = spent * runtime.head.budget / 100 / CALL_NS;
    uint64_t long_ticks = LONG_NS * runtime.ticks_per_second / 1000000000u;
    __builtin_memset(counts, 0, sizeof counts);
    count_calls(chunk);
    uintptr_t closed[MOST];
    uint32_t count = 0;
    while (calls > allowed && count < MOST) {
        struct count *most = take_most(long_ticks);
        if (!most) break;
        closed[count++] = most->function;
        calls -= most->calls < calls ? most->calls : calls;
        most->calls = 0;
    }
    if (count) sleds_close_functions(closed, count);
    fathom_store32(&lock, 0);
}

FATHOM_WITHOUT_HOOKS_END
