// The functions of the C library that wait for threads, time and children, and those that end such waits.

#define _GNU_SOURCE
#include <stdio.h>

#include "masks.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

// ---- semaphores

static int is_available(sem_t *semaphore) {
    int value = 0;
    return REAL(sem_getvalue)(semaphore, &value) == 0 && value > 0;
}

// Nothing is tried: some of these are cancellation points even where they do not wait, and some look at the time first.
#define SEMAPHORE(name, parameters, arguments)                                                                         \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        int result;                                                                                                    \
        WAIT_UNLESS(is_available(semaphore), result, name, FATHOM_WAIT_SEMAPHORE, PLACE(semaphore), 0, arguments);     \
        return result;                                                                                                 \
    }
SEMAPHORE(sem_wait, (sem_t * semaphore), (semaphore))
SEMAPHORE(sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict until), (semaphore, until))
SEMAPHORE(sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until),
          (semaphore, clock, until))
WAKING(int, sem_post, if (IS_WAITED_FOR(semaphore)) fathom_note_wake(FATHOM_WAIT_SEMAPHORE, PLACE(semaphore)),
       (sem_t * semaphore), (semaphore))

// ---- locks

// glibc's kinds of mutexes (PTHREAD_MUTEX_ROBUST_NORMAL_NP, PTHREAD_MUTEX_PRIO_INHERIT_NP,
// PTHREAD_MUTEX_PRIO_PROTECT_NP in nptl/pthreadP.h) of which a try does other things than the lock does at first: on a
// robust mutex that is not recoverable it fails with another error, or leaves the mutex locked, and one with a ceiling
// changes the thread's priority.
#define ROBUST 0x10
#define INHERITS 0x20
#define CEILING 0x40
// The owner in the lock's word, of robust and inheriting mutexes; the ceiling, of others.
#define OWNER 0x3fffffffu
#define CEILING_BITS 0xfff80000u

static int is_plain(const pthread_mutex_t *lock) { return !(lock->__data.__kind & (ROBUST | INHERITS | CEILING)); }

static int is_unlocked(const pthread_mutex_t *lock) {
    uint32_t word = (uint32_t)__atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED);
    return !(word & (lock->__data.__kind & CEILING ? ~CEILING_BITS : OWNER));
}

// The C library looks at these first, and at whether the lock is free afterwards.
static int is_clock(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }
static int is_time(const struct timespec *until) { return !until || (unsigned long)until->tv_nsec < 1000000000ul; }

// A function that takes a lock. `attempt` tries to, where `may_try` holds; `is_free` tells of the lock where it does
// not.
#define LOCKING(name, attempt, may_try, is_free, kind, parameters, arguments)                                          \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        int result;                                                                                                    \
        if (!(may_try)) {                                                                                              \
            WAIT_UNLESS(is_free, result, name, kind, PLACE(lock), LEAST_UNTRIED, arguments);                           \
        } else if (result = REAL(attempt)(lock), !IS_TAKEN(result)) {                                                  \
            WAIT(result, name, kind, PLACE(lock), 0, arguments);                                                       \
        }                                                                                                              \
        if (IS_TAKEN(result)) TAKEN(lock);                                                                             \
        return result;                                                                                                 \
    }
#define MUTEX(name, may_try, parameters, arguments)                                                                    \
    LOCKING(name, pthread_mutex_trylock, is_plain(lock) && may_try, is_unlocked(lock), FATHOM_WAIT_MUTEX, parameters,  \
            arguments)
#define RWLOCK(name, attempt, may_try, parameters, arguments)                                                          \
    LOCKING(name, attempt, may_try, 0, FATHOM_WAIT_RWLOCK, parameters, arguments)
#define UNTIL (lock, until)
#define ON_CLOCK (lock, clock, until)
#define MUTEX_UNTIL (pthread_mutex_t *restrict lock, const struct timespec *restrict until)
#define MUTEX_ON_CLOCK (pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict until)
#define RWLOCK_UNTIL (pthread_rwlock_t *restrict lock, const struct timespec *restrict until)
#define RWLOCK_ON_CLOCK (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until)

MUTEX(pthread_mutex_lock, 1, (pthread_mutex_t * lock), (lock))
MUTEX(pthread_mutex_timedlock, 1, MUTEX_UNTIL, UNTIL)
MUTEX(pthread_mutex_clocklock, is_clock(clock), MUTEX_ON_CLOCK, ON_CLOCK)
TRYING(pthread_mutex_trylock, (pthread_mutex_t * lock))
WAKING(int, pthread_mutex_unlock, if (IS_WAITED_FOR(lock)) fathom_note_release(FATHOM_WAIT_MUTEX, PLACE(lock)),
       (pthread_mutex_t * lock), (lock))
RWLOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, 1, (pthread_rwlock_t * lock), (lock))
RWLOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, 1, (pthread_rwlock_t * lock), (lock))
RWLOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, is_time(until), RWLOCK_UNTIL, UNTIL)
RWLOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, is_time(until), RWLOCK_UNTIL, UNTIL)
RWLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, is_clock(clock) && is_time(until), RWLOCK_ON_CLOCK,
       ON_CLOCK)
RWLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, is_clock(clock) && is_time(until), RWLOCK_ON_CLOCK,
       ON_CLOCK)
TRYING(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock))
TRYING(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock))
WAKING(int, pthread_rwlock_unlock, if (IS_WAITED_FOR(lock)) fathom_note_release(FATHOM_WAIT_RWLOCK, PLACE(lock)),
       (pthread_rwlock_t * lock), (lock))

// ---- conditions

CONDITION(pthread_cond_wait, (pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock), (condition, lock))
CONDITION(pthread_cond_timedwait,
          (pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock, const struct timespec *restrict until),
          (condition, lock, until))
CONDITION(pthread_cond_clockwait,
          (pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock, clockid_t clock,
           const struct timespec *restrict until),
          (condition, lock, clock, until))
WAKING(int, pthread_cond_signal,
       if (IS_WAITED_FOR(condition)) fathom_note_wake(FATHOM_WAIT_CONDITION, PLACE(condition)),
       (pthread_cond_t * condition), (condition))
WAKING(int, pthread_cond_broadcast,
       if (IS_WAITED_FOR(condition)) fathom_note_wake(FATHOM_WAIT_CONDITION, PLACE(condition)),
       (pthread_cond_t * condition), (condition))

// ---- other threads

// Whoever comes last ends the wait of the others.
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
    if (!IS_ASKED_FOR) JUMP REAL(pthread_barrier_wait)(barrier);
    fathom_note_wake(FATHOM_WAIT_BARRIER, PLACE(barrier));
    int result;
    WAIT(result, pthread_barrier_wait, FATHOM_WAIT_BARRIER, PLACE(barrier), 0, (barrier));
    return result;
}

EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                          void *(*routine)(void *), void *restrict argument) {
    if (__builtin_expect(fathom_traps.on, 0)) return fathom_create_thread(thread, attributes, routine, argument);
    if (!IS_ASKED_FOR) JUMP REAL(pthread_create)(thread, attributes, routine, argument);
    struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_CREATION, 0, FATHOM_FLOW_NONE);
    int result = REAL(pthread_create)(thread, attributes, routine, argument);
    if (result == 0) fathom_creation_ends(begin, thread, HERE(pthread_create));
    return result;
}
WAITING(int, pthread_join, FATHOM_WAIT_THREAD, (uint64_t)thread, 0, (pthread_t thread, void **value), (thread, value))
WAITING(int, pthread_timedjoin_np, FATHOM_WAIT_THREAD, (uint64_t)thread, 0,
        (pthread_t thread, void **value, const struct timespec *until), (thread, value, until))
WAITING(int, pthread_clockjoin_np, FATHOM_WAIT_THREAD, (uint64_t)thread, 0,
        (pthread_t thread, void **value, clockid_t clock, const struct timespec *until), (thread, value, clock, until))

// Bit 0 of a pthread_once_t is set while a thread runs the routine. Whoever runs it ends the wait of others before it
// returns, so the routine is called by one that notes this when it is through.
static __thread struct once {
    void (*routine)(void);
    void *control;
} once __attribute__((tls_model("initial-exec")));

static void run_once(void) {
    void *control = once.control;
    once.routine();
    fathom_note_wake(FATHOM_WAIT_ONCE, PLACE(control));
}

int fathom_run_once(int (*real)(void *, void (*)(void)), void *control, void (*routine)(void)) {
    // A handler that comes meanwhile may call another routine once, and then restores this one.
    struct once before = once;
    once = (struct once){routine, control};
    int result = real(control, run_once);
    once = before;
    return result;
}

EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void)) {
    // Acquire is more than enough: the C library's function looks at the word itself, and goes by what it finds.
    int state = __atomic_load_n(control, __ATOMIC_ACQUIRE);
    if (!IS_ASKED_FOR || state & 2) JUMP REAL(pthread_once)(control, routine);
    if (!(state & 1)) return fathom_run_once((int (*)(void *, void (*)(void)))REAL(pthread_once), control, routine);
    int result;
    WAIT(result, pthread_once, FATHOM_WAIT_ONCE, PLACE(control), 0, (control, routine));
    return result;
}

// ---- time

WAITING(unsigned, sleep, FATHOM_WAIT_SLEEP, 0, 0, (unsigned seconds), (seconds))
WAITING(int, usleep, FATHOM_WAIT_SLEEP, 0, 0, (useconds_t time), (time))
WAITING(int, nanosleep, FATHOM_WAIT_SLEEP, 0, 0, (const struct timespec *time, struct timespec *rest), (time, rest))
WAITING(int, clock_nanosleep, FATHOM_WAIT_SLEEP, 0, 0,
        (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest), (clock, flags, time, rest))

// ---- children

// The child that ended is known by what the function returns. One that does not wait only asks.
#define CHILD(type, name, options, child, parameters, arguments)                                                       \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR || (options)&WNOHANG) JUMP REAL(name) arguments;                                             \
        struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_CHILD, 0, FATHOM_FLOW_NONE);                   \
        type result = REAL(name) arguments;                                                                            \
        uint64_t ended = result < 0 ? 0 : (uint64_t)(child);                                                           \
        fathom_wait_ends(begin, (struct fathom_waited){FATHOM_WAIT_CHILD, -1, ended, -1, FATHOM_FLOW_NONE, 0},         \
                         HERE(name));                                                                                  \
        return result;                                                                                                 \
    }
CHILD(pid_t, wait, 0, result, (int *status), (status))
CHILD(pid_t, waitpid, options, result, (pid_t process, int *status, int options), (process, status, options))
CHILD(pid_t, wait3, options, result, (int *status, int options, struct rusage *usage), (status, options, usage))
CHILD(pid_t, wait4, options, result, (pid_t process, int *status, int options, struct rusage *usage),
      (process, status, options, usage))
CHILD(int, waitid, options, info ? info->si_pid : 0, (idtype_t which, id_t process, siginfo_t *info, int options),
      (which, process, info, options))

WAITING(int, pclose, FATHOM_WAIT_CHILD, 0, 0, (FILE * stream), (stream))

FATHOM_WITHOUT_HOOKS_END
