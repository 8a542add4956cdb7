// The locks, conditions and threads of C11, which the C library does not build of those of POSIX in a way that could be
// seen.

#define _GNU_SOURCE
#include <threads.h>

#include "masks.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

_Static_assert(thrd_success == 0, "a lock is taken where the result is 0");

// Whatever its type, a try does just what the function's own first step does.
#define LOCKING(name, parameters, arguments)                                                                           \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        int result = REAL(mtx_trylock)(lock);                                                                          \
        if (result != thrd_success) {                                                                                  \
            WAIT(result, name, FATHOM_WAIT_MUTEX, PLACE(lock), 0, arguments);                                          \
        }                                                                                                              \
        if (result == thrd_success) TAKEN(lock);                                                                       \
        return result;                                                                                                 \
    }
LOCKING(mtx_lock, (mtx_t * lock), (lock))
LOCKING(mtx_timedlock, (mtx_t *restrict lock, const struct timespec *restrict until), (lock, until))
TRYING(mtx_trylock, (mtx_t * lock))
WAKING(int, mtx_unlock, if (IS_WAITED_FOR(lock)) fathom_note_release(FATHOM_WAIT_MUTEX, PLACE(lock)), (mtx_t * lock),
       (lock))

CONDITION(cnd_wait, (cnd_t * condition, mtx_t *lock), (condition, lock))
CONDITION(cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict lock, const struct timespec *restrict until),
          (condition, lock, until))
WAKING(int, cnd_signal, if (IS_WAITED_FOR(condition)) fathom_note_wake(FATHOM_WAIT_CONDITION, PLACE(condition)),
       (cnd_t * condition), (condition))
WAKING(int, cnd_broadcast, if (IS_WAITED_FOR(condition)) fathom_note_wake(FATHOM_WAIT_CONDITION, PLACE(condition)),
       (cnd_t * condition), (condition))

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
    if (!IS_ASKED_FOR) JUMP REAL(thrd_create)(thread, routine, argument);
    struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_CREATION, 0, FATHOM_FLOW_NONE);
    int result = REAL(thrd_create)(thread, routine, argument);
    if (result == thrd_success) fathom_creation_ends(begin, thread, HERE(thrd_create));
    return result;
}
WAITING(int, thrd_join, FATHOM_WAIT_THREAD, (uint64_t)thread, 0, (thrd_t thread, int *value), (thread, value))
WAITING(int, thrd_sleep, FATHOM_WAIT_SLEEP, 0, 0, (const struct timespec *time, struct timespec *rest), (time, rest))

// What the word of a once_flag says is what that of a pthread_once_t does.
static int call_once_result(void *control, void (*routine)(void)) {
    REAL(call_once)(control, routine);
    return 0;
}

EXPORT void call_once(once_flag *control, void (*routine)(void)) {
    int state = __atomic_load_n((int *)control, __ATOMIC_ACQUIRE);
    if (!IS_ASKED_FOR || state & 2) {
        REAL(call_once)(control, routine);
    } else if (!(state & 1)) {
        fathom_run_once(call_once_result, control, routine);
    } else {
        struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_ONCE, PLACE(control), FATHOM_FLOW_NONE);
        REAL(call_once)(control, routine);
        fathom_wait_ends(begin, (struct fathom_waited){FATHOM_WAIT_ONCE, -1, PLACE(control), -1, FATHOM_FLOW_NONE, 0},
                         HERE(call_once));
    }
}

FATHOM_WITHOUT_HOOKS_END
