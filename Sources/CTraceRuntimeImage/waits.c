// What stands before the functions of the C library that wait, and before those that end a wait. Where nobody asked for
// waits, each of these is one test and a jump.
//
// What can be had without waiting is tried first: a lock that is free costs what it did. Results, errno, cancellation
// points and the state of locks are those of the C library's functions, because these are what is called.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CTraceFormat.h"
#include "CTraceRecords.h"
#include "CTraceRuntime.h"

FATHOM_WITHOUT_HOOKS

#ifdef __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

#define EXPORT __attribute__((visibility("default"), no_instrument_function))
#define JUMP __attribute__((musttail)) return
#define IS_ASKED_FOR __builtin_expect(fathom_waiting.on, 0)

// Waits for descriptors that are shorter, in ns, are system calls as any others.
#define LEAST_DESCRIPTOR 20000u

// All of the functions, for the table of what is behind them.
// clang-format off
#define FUNCTIONS(DO)                                                                                                  \
    DO(sem_wait) DO(sem_timedwait) DO(sem_clockwait) DO(sem_trywait) DO(sem_post) DO(pthread_testcancel)               \
    DO(pthread_mutex_lock) DO(pthread_mutex_timedlock) DO(pthread_mutex_clocklock) DO(pthread_mutex_trylock)           \
    DO(pthread_mutex_unlock) DO(pthread_cond_wait) DO(pthread_cond_timedwait) DO(pthread_cond_clockwait)               \
    DO(pthread_cond_signal) DO(pthread_cond_broadcast) DO(pthread_rwlock_rdlock) DO(pthread_rwlock_wrlock)             \
    DO(pthread_rwlock_tryrdlock) DO(pthread_rwlock_trywrlock) DO(pthread_rwlock_unlock) DO(pthread_barrier_wait)       \
    DO(pthread_join) DO(pthread_timedjoin_np) DO(sleep) DO(usleep) DO(nanosleep) DO(clock_nanosleep) DO(pause)         \
    DO(read) DO(readv) DO(recv) DO(recvfrom) DO(recvmsg) DO(accept) DO(accept4) DO(connect) DO(write) DO(writev)       \
    DO(send) DO(sendto) DO(sendmsg) DO(poll) DO(ppoll) DO(select) DO(pselect) DO(epoll_wait) DO(epoll_pwait)           \
    DO(wait) DO(waitpid) DO(wait4)
// clang-format on

#define NUMBER(name) NUMBER_##name,
enum { FUNCTIONS(NUMBER) COUNT };
static void *behind[COUNT];

// Before glibc 2.34, a program without libpthread lacks functions, and before 2.30 some are missing everywhere. A
// search in vain would show in dlerror, so what may be missing is looked for when it is called.
extern __typeof__(pthread_key_create) has_libpthread __attribute__((weak));
__asm__(".symver has_libpthread, pthread_key_create@" FIRST_VERSION);

static int may_be_missing(const char *name) {
    if (strstr(name, "clockwait") || strstr(name, "clocklock")) return 1;
    return !has_libpthread && (!strncmp(name, "pthread_", 8) || !strncmp(name, "sem_", 4));
}

#define LOOK_UP(name)                                                                                                  \
    if (!may_be_missing(#name)) behind[NUMBER_##name] = dlsym(RTLD_NEXT, #name);
__attribute__((constructor)) static void look_up(void) { FUNCTIONS(LOOK_UP) }

static void *find(int number, const char *name) {
    if (!behind[number]) behind[number] = dlsym(RTLD_NEXT, name);
    return behind[number];
}
#define REAL(name) ((__typeof__(&(name)))find(NUMBER_##name, #name))

// Calls the real function of that name, as a wait. `object` is what is waited for.
#define WAIT(result, name, kind, object, descriptor, least, arguments)                                                 \
    struct fathom_wait_begin begin = fathom_wait_begins(kind, object);                                                 \
    result = REAL(name) arguments;                                                                                     \
    fathom_wait_ends(begin, kind, object, descriptor, least, (uintptr_t)REAL(name),                                    \
                     (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0))

#define PLACE(pointer) ((uint64_t)(uintptr_t)(pointer))

// A function that waits in any case: its definition.
#define WAITING(type, name, kind, object, descriptor, least, parameters, arguments)                                    \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        type result;                                                                                                   \
        WAIT(result, name, kind, object, descriptor, least, arguments);                                                \
        return result;                                                                                                 \
    }

// A function that takes a lock: `attempt` tries to, and what else than `busy` it results in is final if it is the lock.
#define LOCKING(name, attempt, kind, parameters, arguments)                                                            \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        int result = REAL(attempt)(lock);                                                                              \
        if (result == 0 || result == EOWNERDEAD) return result;                                                        \
        WAIT(result, name, kind, PLACE(lock), -1, 0, arguments);                                                       \
        return result;                                                                                                 \
    }

// A function that may end waits.
#define WAKING(type, name, note, parameters, arguments)                                                                \
    EXPORT type name parameters {                                                                                      \
        if (IS_ASKED_FOR) note;                                                                                        \
        JUMP REAL(name) arguments;                                                                                     \
    }

// ---- semaphores

static int takes(sem_t *semaphore) {
    int error = errno, result = REAL(sem_trywait)(semaphore);
    errno = error;
    return result == 0;
}

// They are cancellation points even where they do not wait.
#define SEMAPHORE(name, parameters, arguments)                                                                         \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        int result;                                                                                                    \
        REAL(pthread_testcancel)();                                                                                    \
        if (takes(semaphore)) return 0;                                                                                \
        WAIT(result, name, FATHOM_WAIT_SEMAPHORE, PLACE(semaphore), -1, 0, arguments);                                 \
        return result;                                                                                                 \
    }
SEMAPHORE(sem_wait, (sem_t * semaphore), (semaphore))
SEMAPHORE(sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict until), (semaphore, until))
SEMAPHORE(sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until),
          (semaphore, clock, until))
WAKING(int, sem_post, fathom_note_wake(FATHOM_WAIT_SEMAPHORE, PLACE(semaphore)), (sem_t * semaphore), (semaphore))

// ---- locks

LOCKING(pthread_mutex_lock, pthread_mutex_trylock, FATHOM_WAIT_MUTEX, (pthread_mutex_t * lock), (lock))
LOCKING(pthread_mutex_timedlock, pthread_mutex_trylock, FATHOM_WAIT_MUTEX,
        (pthread_mutex_t *restrict lock, const struct timespec *restrict until), (lock, until))
LOCKING(pthread_mutex_clocklock, pthread_mutex_trylock, FATHOM_WAIT_MUTEX,
        (pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict until), (lock, clock, until))
WAKING(int, pthread_mutex_unlock, fathom_note_wake(FATHOM_WAIT_MUTEX, PLACE(lock)), (pthread_mutex_t * lock), (lock))
LOCKING(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, FATHOM_WAIT_RWLOCK, (pthread_rwlock_t * lock), (lock))
LOCKING(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, FATHOM_WAIT_RWLOCK, (pthread_rwlock_t * lock), (lock))
WAKING(int, pthread_rwlock_unlock, fathom_note_wake(FATHOM_WAIT_RWLOCK, PLACE(lock)), (pthread_rwlock_t * lock), (lock))

// ---- conditions: whoever waits gives the lock back meanwhile

#define CONDITION(name, parameters, arguments)                                                                         \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        fathom_note_wake(FATHOM_WAIT_MUTEX, PLACE(lock));                                                              \
        int result;                                                                                                    \
        WAIT(result, name, FATHOM_WAIT_CONDITION, PLACE(condition), -1, 0, arguments);                                 \
        return result;                                                                                                 \
    }
CONDITION(pthread_cond_wait, (pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock), (condition, lock))
CONDITION(pthread_cond_timedwait,
          (pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock, const struct timespec *restrict until),
          (condition, lock, until))
CONDITION(pthread_cond_clockwait,
          (pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock, clockid_t clock,
           const struct timespec *restrict until),
          (condition, lock, clock, until))
WAKING(int, pthread_cond_signal, fathom_note_wake(FATHOM_WAIT_CONDITION, PLACE(condition)),
       (pthread_cond_t * condition), (condition))
WAKING(int, pthread_cond_broadcast, fathom_note_wake(FATHOM_WAIT_CONDITION, PLACE(condition)),
       (pthread_cond_t * condition), (condition))

// ---- other threads

// Whoever comes last ends the wait of the others.
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
    if (!IS_ASKED_FOR) JUMP REAL(pthread_barrier_wait)(barrier);
    fathom_note_wake(FATHOM_WAIT_BARRIER, PLACE(barrier));
    int result;
    WAIT(result, pthread_barrier_wait, FATHOM_WAIT_BARRIER, PLACE(barrier), -1, 0, (barrier));
    return result;
}
WAITING(int, pthread_join, FATHOM_WAIT_THREAD, (uint64_t)thread, -1, 0, (pthread_t thread, void **value),
        (thread, value))
WAITING(int, pthread_timedjoin_np, FATHOM_WAIT_THREAD, (uint64_t)thread, -1, 0,
        (pthread_t thread, void **value, const struct timespec *until), (thread, value, until))

// ---- time

WAITING(unsigned, sleep, FATHOM_WAIT_SLEEP, 0, -1, 0, (unsigned seconds), (seconds))
WAITING(int, usleep, FATHOM_WAIT_SLEEP, 0, -1, 0, (useconds_t time), (time))
WAITING(int, nanosleep, FATHOM_WAIT_SLEEP, 0, -1, 0, (const struct timespec *time, struct timespec *rest), (time, rest))
WAITING(int, clock_nanosleep, FATHOM_WAIT_SLEEP, 0, -1, 0,
        (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest), (clock, flags, time, rest))
WAITING(int, pause, FATHOM_WAIT_SLEEP, 0, -1, 0, (void), ())

// ---- descriptors

#define READING(type, name, parameters, arguments)                                                                     \
    WAITING(type, name, FATHOM_WAIT_DESCRIPTOR, 0, descriptor, LEAST_DESCRIPTOR, parameters, arguments)
READING(ssize_t, read, (int descriptor, void *bytes, size_t size), (descriptor, bytes, size))
READING(ssize_t, readv, (int descriptor, const struct iovec *pieces, int count), (descriptor, pieces, count))
READING(ssize_t, recv, (int descriptor, void *bytes, size_t size, int flags), (descriptor, bytes, size, flags))
READING(ssize_t, recvfrom,
        (int descriptor, void *restrict bytes, size_t size, int flags, __SOCKADDR_ARG address,
         socklen_t *restrict length),
        (descriptor, bytes, size, flags, address, length))
READING(ssize_t, recvmsg, (int descriptor, struct msghdr *message, int flags), (descriptor, message, flags))
READING(int, accept, (int descriptor, __SOCKADDR_ARG address, socklen_t *restrict length),
        (descriptor, address, length))
READING(int, accept4, (int descriptor, __SOCKADDR_ARG address, socklen_t *restrict length, int flags),
        (descriptor, address, length, flags))
READING(int, connect, (int descriptor, __CONST_SOCKADDR_ARG address, socklen_t length), (descriptor, address, length))

// These may wait for room, and may end the wait of a reader.
#define WRITING(name, parameters, arguments)                                                                           \
    EXPORT ssize_t name parameters {                                                                                   \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        fathom_note_wake_descriptor(descriptor);                                                                       \
        ssize_t result;                                                                                                \
        WAIT(result, name, FATHOM_WAIT_DESCRIPTOR, 0, descriptor, LEAST_DESCRIPTOR, arguments);                        \
        return result;                                                                                                 \
    }
WRITING(write, (int descriptor, const void *bytes, size_t size), (descriptor, bytes, size))
WRITING(writev, (int descriptor, const struct iovec *pieces, int count), (descriptor, pieces, count))
WRITING(send, (int descriptor, const void *bytes, size_t size, int flags), (descriptor, bytes, size, flags))
WRITING(sendto,
        (int descriptor, const void *bytes, size_t size, int flags, __CONST_SOCKADDR_ARG address, socklen_t length),
        (descriptor, bytes, size, flags, address, length))
WRITING(sendmsg, (int descriptor, const struct msghdr *message, int flags), (descriptor, message, flags))

#define POLLING(name, descriptor, parameters, arguments)                                                               \
    WAITING(int, name, FATHOM_WAIT_POLL, 0, descriptor, LEAST_DESCRIPTOR, parameters, arguments)
POLLING(poll, count == 1 ? descriptors->fd : -1, (struct pollfd * descriptors, nfds_t count, int time),
        (descriptors, count, time))
POLLING(ppoll, count == 1 ? descriptors->fd : -1,
        (struct pollfd * descriptors, nfds_t count, const struct timespec *time, const sigset_t *mask),
        (descriptors, count, time, mask))
POLLING(select, -1,
        (int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other, struct timeval *restrict time),
        (count, in, out, other, time))
POLLING(pselect, -1,
        (int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
         const struct timespec *restrict time, const sigset_t *restrict mask),
        (count, in, out, other, time, mask))
POLLING(epoll_wait, descriptor, (int descriptor, struct epoll_event *events, int count, int time),
        (descriptor, events, count, time))
POLLING(epoll_pwait, descriptor,
        (int descriptor, struct epoll_event *events, int count, int time, const sigset_t *mask),
        (descriptor, events, count, time, mask))

// ---- children

WAITING(pid_t, wait, FATHOM_WAIT_CHILD, 0, -1, 0, (int *status), (status))
WAITING(pid_t, waitpid, FATHOM_WAIT_CHILD, 0, -1, 0, (pid_t process, int *status, int options),
        (process, status, options))
WAITING(pid_t, wait4, FATHOM_WAIT_CHILD, 0, -1, 0, (pid_t process, int *status, int options, struct rusage *usage),
        (process, status, options, usage))

FATHOM_WITHOUT_HOOKS_END
