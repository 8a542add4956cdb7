// Records as bytes, for everybody who writes them: the runtime, who joins the pieces of tasks, and tests. Each function
// lays one record at `p` and returns the place behind it. What is written relates to what was written before, so the
// writer keeps three things: the time of the last record, the function base, and which call is the innermost.
//
// A record is at most FATHOM_RECORD_LIMIT bytes, with the TIME, BASE and SITE records that it may need before it.

#ifndef CTRACERECORDS_H
#define CTRACERECORDS_H

#include "CTraceFormat.h"

#define FATHOM_RECORD_LIMIT 64u

// Ticks that one TIME record can tell.
#define FATHOM_TIME_LIMIT 0xffffffffffffull

FATHOM_PUBLIC_INLINE void *fathom_put(void *p, const void *bytes, size_t size) {
    __builtin_memcpy(p, bytes, size);
    return (char *)p + size;
}

// A special record with its payload.
FATHOM_PUBLIC_INLINE void *fathom_put_special(void *p, uint32_t special, const void *payload, size_t size) {
    uint16_t unit = (uint16_t)(special << 1);
    return fathom_put(fathom_put(p, &unit, sizeof unit), payload, size);
}

// Moves the time on by `ticks`. After more than a day (48 bits hold at least 78 hours of a 1 GHz counter) that takes two
// records.
FATHOM_PUBLIC_INLINE void *fathom_put_time(void *p, uint64_t ticks) {
    while (1) {
        uint64_t some = ticks < FATHOM_TIME_LIMIT ? ticks : FATHOM_TIME_LIMIT;
        uint64_t word = FATHOM_TIME << 1 | some << 16;
        p = fathom_put(p, &word, sizeof word);
        ticks -= some;
        if (!ticks) return p;
    }
}

// Moves the time on when that takes a record of its own, because an ENTER or EXIT has no room for *delta ticks. *delta
// becomes what the ENTER or EXIT has to tell.
FATHOM_PUBLIC_INLINE void *fathom_put_delta(void *p, uint64_t *delta) {
    if (*delta < FATHOM_DELTA_LIMIT) return p;
    p = fathom_put_time(p, *delta);
    *delta = 0;
    return p;
}

// What the site field of an ENTER says of a call; FATHOM_SITE_FAR when it cannot say it, so that a SITE record must.
// The caller of a call at depth 0 is function 0 with call site 0.
#define FATHOM_SITE_FAR 0x10000u
FATHOM_PUBLIC_INLINE uint32_t fathom_site_field(uint64_t call_site, uint64_t caller, uint64_t callers_site) {
    if (call_site == callers_site) return FATHOM_SITE_SAME;
    uint64_t offset = call_site - caller;
    if (__builtin_expect(offset >= FATHOM_SITE_SAME, 0)) return FATHOM_SITE_FAR;
    return (uint32_t)offset;
}

// A call that begins `delta` ticks, fewer than FATHOM_DELTA_LIMIT, after the last record; the function base is its
// function's, and the site field can say its call site.
FATHOM_PUBLIC_INLINE void *fathom_put_enter(void *p, uint64_t function, uint64_t delta, uint64_t site_field) {
    uint64_t word = 1 | delta << 1 | site_field << 16 | function << 32;
    return fathom_put(p, &word, sizeof word);
}

// A call that begins, with what it needs before it. `site_field` is fathom_site_field's answer.
FATHOM_PUBLIC_INLINE void *fathom_put_call(void *p, uint64_t function, uint64_t call_site, uint32_t site_field,
                                           uint64_t delta, uint64_t *function_base) {
    p = fathom_put_delta(p, &delta);
    if (function >> 32 != *function_base) {
        uint32_t base = (uint32_t)(function >> 32);
        p = fathom_put_special(p, FATHOM_BASE, &base, sizeof base);
        *function_base = base;
    }
    if (site_field == FATHOM_SITE_FAR) {
        p = fathom_put_special(p, FATHOM_SITE, &call_site, sizeof call_site);
        site_field = 0;
    }
    return fathom_put_enter(p, function, delta, site_field);
}

// The innermost call ends `delta` ticks, fewer than FATHOM_DELTA_LIMIT, after the last record.
FATHOM_PUBLIC_INLINE void *fathom_put_exit(void *p, uint64_t delta) {
    uint16_t unit = (uint16_t)(delta << 1);
    return fathom_put(p, &unit, sizeof unit);
}

// The records from here on happen at the time of the last one.

FATHOM_PUBLIC_INLINE void *fathom_put_unwind(void *p, uint32_t count) {
    return fathom_put_special(p, FATHOM_UNWIND, &count, sizeof count);
}

FATHOM_PUBLIC_INLINE void *fathom_put_lane(void *p, uint32_t lane, uint32_t open_calls) {
    uint32_t payload[2] = {lane, open_calls};
    return fathom_put_special(p, FATHOM_LANE, payload, sizeof payload);
}

FATHOM_PUBLIC_INLINE void *fathom_put_dropped(void *p, uint32_t calls, uint64_t ticks) {
    return fathom_put(fathom_put_special(p, FATHOM_DROPPED, &calls, sizeof calls), &ticks, sizeof ticks);
}

FATHOM_PUBLIC_INLINE void *fathom_put_mark(void *p, uint32_t name) {
    return fathom_put_special(p, FATHOM_MARK, &name, sizeof name);
}

// `bits` are those of the value, a double.
FATHOM_PUBLIC_INLINE void *fathom_put_counter(void *p, uint32_t name, uint64_t bits) {
    return fathom_put(fathom_put_special(p, FATHOM_COUNTER, &name, sizeof name), &bits, sizeof bits);
}

FATHOM_PUBLIC_INLINE void *fathom_put_task(void *p, const struct fathom_task *task) {
    return fathom_put_special(p, FATHOM_TASK, task, sizeof *task);
}

#endif
