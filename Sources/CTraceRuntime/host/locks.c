#include "locks.h"

FATHOM_WITHOUT_HOOKS

uint32_t locks[LOCK_COUNT];

int locks_are_free(void) {
    for (uint32_t i = 0; i < LOCK_COUNT; i++)
        if (fathom_load32(&locks[i])) return 0;
    return 1;
}

// Only this thread is there.
void locks_after_fork(void) { __builtin_memset(locks, 0, sizeof locks); }

#ifdef FATHOM_VALID

static __thread uint32_t held __attribute__((tls_model("initial-exec")));  // a bit for each lock

void locks_expect_order(enum lock taken) {
    if (held >> taken) system_fail("locks are taken in their order");
}

void locks_expect_none(void) {
    if (held) system_fail("no lock is held where foreign code is called");
}

void locks_note(enum lock lock, int is_held) { held = is_held ? held | 1u << lock : held & ~(1u << lock); }

#endif

FATHOM_WITHOUT_HOOKS_END
