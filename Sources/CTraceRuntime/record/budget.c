// Closes the sleds of functions that cost more than they tell: those that are called most and take the least time. A
// function whose calls take long costs little, however much time is spent in it. The sleds at a function's beginning
// are closed first. Those at its ends are closed when no thread has an open call of it, which is so after a moment as a
// rule: nobody could see such a call end.

#include "budget.h"

#include "../follow/roster.h"
#include "../follow/side.h"
#include "../host/loader.h"
#include "../host/runtime.h"
#include "../session/detours.h"
#include "../session/metadata.h"
#include "../session/sleds.h"

FATHOM_WITHOUT_HOOKS

// What recording a call takes, in ns (Documentation/decisions/runtime.md).
#define CALL_NS 20u
// Functions whose calls take this much or more, without their callees, are not closed: a hundredth of it is CALL_NS.
#define LONG_NS 2000u
#define PLACES 1024u    // a power of two
#define MOST 64u        // functions closed at once
#define ENDS_MOST 512u  // functions whose ends are still open
// How many ends of closed functions pass until somebody looks whether their sleds can be closed: doubled each time that
// none can.
#define FEW_ENDS 256u
#define MANY_ENDS (1u << 20)

struct count {
    uintptr_t function;
    uint32_t calls;
    uint64_t ticks;  // between each call's beginning and the next record
};
// Who works here: process id << 32 | 1; 0: nobody. It is no lock, because nobody waits for it, and whoever has it calls
// what takes locks. A fork's child takes it from its parent's thread. All that follows is the worker's. The thread's
// stack may be small.
static uint64_t worker;
static struct count counts[PLACES];
// Functions that are closed at their beginnings.
static struct end {
    uintptr_t function;
    uint32_t is_open;  // a call of it
} ends[ENDS_MOST];
static uint32_t ends_count, ends_to_pass = FEW_ENDS;
static uint64_t ends_mask;  // a bit for each, by its address

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

// Whoever finds another thread at work looks another time.
static int begin_work(void) {
    uint64_t self = (uint64_t)runtime.pid << 32 | 1, other = __atomic_load_n(&worker, __ATOMIC_RELAXED);
    // Acquire, and release in end_work: what the last one did is seen.
    return other != self && __atomic_compare_exchange_n(&worker, &other, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
static void end_work(void) { __atomic_store_n(&worker, 0, __ATOMIC_RELEASE); }

// ---- ends

static uint64_t bit_of(uintptr_t function) { return 1ull << ((uint64_t)function * 0x9e3779b97f4a7c15ull >> 58); }

static void note_open(uintptr_t function) {
    if (!(ends_mask & bit_of(function))) return;
    for (uint32_t i = 0; i < ends_count; i++)
        if (ends[i].function == function) ends[i].is_open = 1;
}

static void close_ends(const struct thread *t) {
    uintptr_t closed[MOST];
    uint32_t count = 0, kept = 0;
    ends_mask = 0;
    for (uint32_t i = 0; i < ends_count; i++) {
        ends[i].is_open = 0;
        ends_mask |= bit_of(ends[i].function);
    }
    // Where system calls are filtered, this one may end the program.
    if (!ends_count || system_seccomp_mode() || !roster_see_open(t, note_open)) return;
    for (uint32_t i = 0; i < ends_count && count < MOST; i++)
        if (!ends[i].is_open) closed[count++] = ends[i].function;
    if (!count || !sleds_close_ends(closed, count)) return;
    for (uint32_t i = 0, gone = 0; i < ends_count; i++) {
        if (gone < count && ends[i].function == closed[gone]) gone++;
        else ends[kept++] = ends[i];
    }
    ends_count = kept;
    ends_to_pass = FEW_ENDS;
}

void budget_look_at_ends(struct thread *t, uintptr_t hook_sp) {
    t->ends = FEW_ENDS;
    if (!is_free(t) || t->state != THREAD_ATTACHED || confine_unnoted() || !loader_has_stack()) return;
    t->idle = 0;
    t->hook_sp = hook_sp;
    BARRIER();
    uint64_t signals = system_block_signals();
    if (begin_work()) {
        if (ends_to_pass < MANY_ENDS) ends_to_pass *= 2;
        close_ends(t);
        t->ends = ends_to_pass;
        end_work();
    }
    system_restore_signals(signals);
    BARRIER();
    side_drain(t);
}

// ---- beginnings

void budget_look(const struct fathom_chunk *chunk, uint64_t processor_ns) {
    uint64_t before = looked, spent = processor_ns - before, calls = chunk->calls;
    looked = processor_ns;
    uint64_t allowed = spent * runtime.head.budget / 100 / CALL_NS;
    if (!before || calls <= allowed || !begin_work()) return;
    uintptr_t closed[MOST];
    uint32_t count = 0;
    __builtin_memset(counts, 0, sizeof counts);
    count_calls(chunk);
    uint64_t long_ticks = LONG_NS * runtime.ticks_per_second / 1000000000u;
    while (calls > allowed && count < MOST && ends_count + count < ENDS_MOST) {
        struct count *most = take_most(long_ticks);
        if (!most) break;
        closed[count++] = most->function;
        calls -= most->calls < calls ? most->calls : calls;
        most->calls = 0;
    }
    // The ends of calls with detours are places of their own.
    if (count) count = detours_close(closed, count);
    if (count && sleds_close_functions(closed, count)) {
        for (uint32_t i = 0; i < count; i++) ends[ends_count + i] = (struct end){closed[i], 0};
        ends_count += count;
        ends_to_pass = FEW_ENDS;
    }
    end_work();
}

FATHOM_WITHOUT_HOOKS_END
