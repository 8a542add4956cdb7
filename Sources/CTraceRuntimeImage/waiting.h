// What stands before the functions of the C library that wait, and before those that end a wait: how such functions are
// defined. Where nobody asked for waits, each of these is one test and a jump.
//
// Where a try does just what the function's own first step does, it comes first: a lock that is free costs what it did.
// Elsewhere the function itself is called at once, and only once. Results, errno, cancellation points and the state of
// locks are those of the C library's functions, because these are what is called. What the program passes is read only
// when the C library or the kernel has read it, or when it is known that it can be read.

#ifndef FATHOM_WAITING_H
#define FATHOM_WAITING_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CTraceFormat.h"
#include "CTraceRecords.h"
#include "CTraceRuntime.h"
#include "CTraceRuntimeConfine.h"
#include "behind.h"

#define IS_ASKED_FOR __builtin_expect(fathom_waiting.on, 0)

// Waits for descriptors that are shorter, in ns, are system calls as any others.
#define LEAST_DESCRIPTOR 20000u
// The same for what seemed to be free, and for locks of kinds of which nobody can tell without taking them.
#define LEAST_UNSEEN 20000u
#define LEAST_UNTRIED 1000u

// What code that is compiled with _FORTIFY_SOURCE calls in place of read, recv, recvfrom, poll and ppoll.
ssize_t __read_chk(int descriptor, void *bytes, size_t size, size_t room);
ssize_t __recv_chk(int descriptor, void *bytes, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int descriptor, void *restrict bytes, size_t size, size_t room, int flags,
                       __SOCKADDR_ARG address, socklen_t *restrict length);
int __poll_chk(struct pollfd *descriptors, nfds_t count, int time, size_t room);
int __ppoll_chk(struct pollfd *descriptors, nfds_t count, const struct timespec *time, const sigset_t *mask,
                size_t room);

// The C library's syscall, with a call that may wait or end waits; and whether a call is one that this knows.
HIDDEN fathom_syscall_function fathom_syscall_that_waits;
HIDDEN int fathom_syscall_waits(long number);

#define PLACE(pointer) ((uint64_t)(uintptr_t)(pointer))

// The struct fathom_place of a wait: which function of the C library waits, `name`, and where the program called it. It
// stands in the function that takes the place of `name`, because it reads that function's frame.
#define HERE(name)                                                                                                     \
    (struct fathom_place) {                                                                                            \
        (uintptr_t) REAL(name), (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)          \
    }

// Calls the real function of that name, as a wait for an object.
#define WAIT(result, name, kind, object, least, arguments)                                                             \
    struct fathom_wait_begin begin = fathom_wait_begins(kind, object, FATHOM_FLOW_NONE);                               \
    result = REAL(name) arguments;                                                                                     \
    fathom_wait_ends(begin, (struct fathom_waited){kind, -1, object, -1, FATHOM_FLOW_NONE, least}, HERE(name))

// The same of what `is_free` says can be had at once: it is a wait only if it takes long all the same.
#define WAIT_UNLESS(is_free, result, name, kind, object, least, arguments)                                             \
    int seems_free = is_free;                                                                                          \
    struct fathom_wait_begin begin =                                                                                   \
        seems_free ? fathom_wait_may_begin() : fathom_wait_begins(kind, object, FATHOM_FLOW_NONE);                     \
    result = REAL(name) arguments;                                                                                     \
    fathom_wait_ends(                                                                                                  \
        begin, (struct fathom_waited){kind, -1, object, -1, FATHOM_FLOW_NONE, seems_free ? LEAST_UNSEEN : least},      \
        HERE(name))

// Calls the real function of that name, as a wait for what the kernel has a number for, so that other processes may end
// it. `file` is a descriptor whose file it is, or -1.
#define WAIT_SHARED(result, name, kind, object, file, arguments)                                                       \
    struct fathom_wait_begin begin = fathom_wait_begins(kind, object, FATHOM_FLOW_DATA);                               \
    result = REAL(name) arguments;                                                                                     \
    fathom_wait_ends(begin, (struct fathom_waited){kind, file, object, file, FATHOM_FLOW_NONE, LEAST_DESCRIPTOR},      \
                     HERE(name))

// A function that waits in any case: its definition.
#define WAITING(type, name, kind, object, least, parameters, arguments)                                                \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        type result;                                                                                                   \
        WAIT(result, name, kind, object, least, arguments);                                                            \
        return result;                                                                                                 \
    }

// Whether somebody waits for an object, or has ever waited for a lock. Relaxed: see entry/waits.c. Where nobody has, a
// lock that is given back costs no more than this.
#define IS_WAITED_FOR(object) __builtin_expect(__atomic_load_n(fathom_waiters_of(PLACE(object)), __ATOMIC_RELAXED), 0)

// Whether a lock was taken by a function with this result; and a lock that somebody has waited for is noted when it is
// taken. Relaxed: nothing is read because of the count, and whoever finds it late does not know for how long the lock
// was held.
#define IS_TAKEN(result) ((result) == 0 || (result) == EOWNERDEAD)
#define TAKEN(lock)                                                                                                    \
    if (__builtin_expect(__atomic_load_n(fathom_waiters_of(PLACE(lock)), __ATOMIC_RELAXED) & FATHOM_CONTENDED, 0))     \
    fathom_note_taken(PLACE(lock))

// A function that tries to take a lock.
#define TRYING(name, parameters)                                                                                       \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name)(lock);                                                                      \
        int result = REAL(name)(lock);                                                                                 \
        if (IS_TAKEN(result)) TAKEN(lock);                                                                             \
        return result;                                                                                                 \
    }

// A function that waits for a condition: whoever waits gives the lock back meanwhile.
#define CONDITION(name, parameters, arguments)                                                                         \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        fathom_note_release(FATHOM_WAIT_MUTEX, PLACE(lock));                                                           \
        int result;                                                                                                    \
        WAIT(result, name, FATHOM_WAIT_CONDITION, PLACE(condition), 0, arguments);                                     \
        TAKEN(lock);                                                                                                   \
        return result;                                                                                                 \
    }

// Runs `real`, pthread_once or the same of C11, for a thread that may have to run the routine. What it returns.
HIDDEN int fathom_run_once(int (*real)(void *, void (*)(void)), void *control, void (*routine)(void));

// A function that may end waits.
#define WAKING(type, name, note, parameters, arguments)                                                                \
    EXPORT type name parameters {                                                                                      \
        if (IS_ASKED_FOR) note;                                                                                        \
        JUMP REAL(name) arguments;                                                                                     \
    }

#endif
