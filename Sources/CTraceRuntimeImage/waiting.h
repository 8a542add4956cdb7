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
#include <sys/file.h>
#include <sys/select.h>
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

// The C library's syscall, with a futex.
HIDDEN fathom_syscall_function fathom_futex;

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

// A function that waits in any case: its definition.
#define WAITING(type, name, kind, object, least, parameters, arguments)                                                \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        type result;                                                                                                   \
        WAIT(result, name, kind, object, least, arguments);                                                            \
        return result;                                                                                                 \
    }

// A function that may end waits.
#define WAKING(type, name, note, parameters, arguments)                                                                \
    EXPORT type name parameters {                                                                                      \
        if (IS_ASKED_FOR) note;                                                                                        \
        JUMP REAL(name) arguments;                                                                                     \
    }

#endif
