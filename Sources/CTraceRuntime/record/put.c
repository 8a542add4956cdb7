// Writes records as bytes, with everything that the fast path leaves out: long times, far call sites, other function
// bases.

#include "put.h"

#include "chunk.h"

FATHOM_WITHOUT_HOOKS

static void put(struct thread *t, const void *bytes, size_t size) {
    __builtin_memcpy(t->cursor, bytes, size);
    t->cursor += size;
}

void put_special(struct thread *t, uint16_t special, const void *payload, size_t size) {
    uint16_t unit = (uint16_t)(special << 1);
    put(t, &unit, sizeof unit);
    put(t, payload, size);
}

// Moves the time of the last record on to `now`.
static void put_time(struct thread *t, uint64_t now) {
    uint64_t delta = now - t->last, most = (1ull << 48) - 1;
    t->last = now;
    if (delta > most) {
        // A pause of more than a day: 48 bits hold at least 78 hours of a 1 GHz counter.
        put_special(t, FATHOM_TIME, &most, 6);
        delta -= most;
    }
    put_special(t, FATHOM_TIME, &delta, 6);
}

static uint64_t take_delta(struct thread *t, uint64_t now) {
    uint64_t delta = now - t->last;
    if (delta < FATHOM_DELTA_LIMIT) {
        t->last = now;
        return delta;
    }
    put_time(t, now);
    return 0;
}

int put_room(struct thread *t, uint64_t *now) {
    if (t->cursor >= t->limit && !chunk_make_room(t)) return 0;
    if (*now < t->last) *now = t->last;
    return 1;
}

void put_enter(struct thread *t, uint64_t now) {
    const struct frame *call = t->top, *caller = call - 1;
    uintptr_t function = call->function, call_site = call->call_site;
    uint64_t delta = take_delta(t, now);
    uint32_t base = (uint32_t)(function >> 32);
    if (base != t->function_base) {
        put_special(t, FATHOM_BASE, &base, sizeof base);
        t->function_base = base;
    }
    uint64_t offset = call_site == caller->call_site ? FATHOM_SITE_SAME : call_site - caller->function;
    if (offset > FATHOM_SITE_SAME || (offset == FATHOM_SITE_SAME && call_site != caller->call_site)) {
        uint64_t site = call_site;
        put_special(t, FATHOM_SITE, &site, sizeof site);
        offset = 0;
    }
    uint64_t word = 1 | delta << 1 | offset << 16 | (uint64_t)function << 32;
    put(t, &word, sizeof word);
    t->calls++;
}

void put_exit(struct thread *t, uint64_t now) {
    uint16_t unit = (uint16_t)(take_delta(t, now) << 1);
    put(t, &unit, sizeof unit);
}

void put_unwind(struct thread *t, uint32_t count, uint64_t now) {
    if (now != t->last) put_time(t, now);
    put_special(t, FATHOM_UNWIND, &count, sizeof count);
}

void put_lane(struct thread *t) {
    uint32_t payload[2] = {running_lane(t)->id, recorded_calls(t)};
    put_special(t, FATHOM_LANE, payload, sizeof payload);
}

void put_mark(struct thread *t, uint32_t name, uint64_t now) {
    if (now != t->last) put_time(t, now);
    put_special(t, FATHOM_MARK, &name, sizeof name);
}

void put_counter(struct thread *t, uint32_t name, uint64_t bits, uint64_t now) {
    struct {
        uint32_t name;
        uint64_t bits;
    } __attribute__((packed)) payload = {name, bits};
    if (now != t->last) put_time(t, now);
    put_special(t, FATHOM_COUNTER, &payload, sizeof payload);
}

FATHOM_WITHOUT_HOOKS_END
