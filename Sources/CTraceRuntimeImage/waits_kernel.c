// The functions of the C library that wait for signals, semaphores and queues of System V, queues of POSIX, and for
// input and output that was asked for, and those that end such waits. What stands before the waits for signals also has
// to do with masks.

#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "masks.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

// ---- signals: whoever sends one to the process, or to a thread of it, may end the wait

#define SIGNALLED(name, parameters, arguments)                                                                         \
    EXPORT int name parameters {                                                                                       \
        fathom_ask_for_blocked(set);                                                                                   \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        int result;                                                                                                    \
        WAIT_SHARED(result, name, FATHOM_WAIT_SIGNAL, fathom_own_process(), -1, arguments);                            \
        return result;                                                                                                 \
    }
SIGNALLED(sigwait, (const sigset_t *restrict set, int *restrict number), (set, number))
SIGNALLED(sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict info), (set, info))
SIGNALLED(sigtimedwait, (const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict time),
          (set, info, time))

// Libraries have functions of their own by this name, so whatever is passed is passed on.
typedef long any_function(long, long, long, long, long, long);
EXPORT any_function fathom_pause __asm__("pause");
long fathom_pause(long a, long b, long c, long d, long e, long f) {
    any_function *real = (any_function *)behind(BEHIND_pause);
    if (!IS_ASKED_FOR) JUMP real(a, b, c, d, e, f);
    struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_SIGNAL, fathom_own_process(), FATHOM_FLOW_DATA);
    long result = real(a, b, c, d, e, f);
    fathom_wait_ends(
        begin,
        (struct fathom_waited){FATHOM_WAIT_SIGNAL, -1, fathom_own_process(), -1, FATHOM_FLOW_NONE, LEAST_DESCRIPTOR},
        HERE(pause));
    return result;
}

// Handlers run meanwhile: see masks.h.
__attribute__((noinline)) static int suspend_unmasked(const sigset_t *mask) {
    sigset_t without;
    int was_blocked = fathom_mask_begins(mask, &without);
    int result = REAL(sigsuspend)(&without);
    fathom_mask_ends(was_blocked);
    return result;
}

EXPORT int sigsuspend(const sigset_t *mask) {
    if (fathom_masks_trap(mask)) return suspend_unmasked(mask);
    if (!IS_ASKED_FOR) JUMP REAL(sigsuspend)(mask);
    int result;
    WAIT_SHARED(result, sigsuspend, FATHOM_WAIT_SIGNAL, fathom_own_process(), -1, (mask));
    return result;
}

#define NOTE_SIGNAL(process) fathom_note_number(FATHOM_WAIT_SIGNAL, (uint32_t)(process))
WAKING(int, kill, NOTE_SIGNAL(process > 0 ? (uint32_t)process : fathom_own_process()), (pid_t process, int number),
       (process, number))
WAKING(int, sigqueue, NOTE_SIGNAL(process), (pid_t process, int number, const union sigval value),
       (process, number, value))
WAKING(int, pthread_kill, NOTE_SIGNAL(fathom_own_process()), (pthread_t thread, int number), (thread, number))
WAKING(int, pthread_sigqueue, NOTE_SIGNAL(fathom_own_process()),
       (pthread_t thread, int number, const union sigval value), (thread, number, value))

// ---- System V. Its numbers begin with 0, which says that nothing is known.

#define NUMBER(id) ((uint64_t)(uint32_t)(id) + 1)
#define SYSTEM_V(type, name, kind, parameters, arguments)                                                              \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        fathom_note_number(kind, NUMBER(id));                                                                          \
        type result;                                                                                                   \
        WAIT_SHARED(result, name, kind, NUMBER(id), -1, arguments);                                                    \
        return result;                                                                                                 \
    }
SYSTEM_V(int, semop, FATHOM_WAIT_SEMAPHORES, (int id, struct sembuf *operations, size_t count), (id, operations, count))
SYSTEM_V(int, semtimedop, FATHOM_WAIT_SEMAPHORES,
         (int id, struct sembuf *operations, size_t count, const struct timespec *time), (id, operations, count, time))
SYSTEM_V(int, msgsnd, FATHOM_WAIT_QUEUE, (int id, const void *message, size_t size, int flags),
         (id, message, size, flags))
SYSTEM_V(ssize_t, msgrcv, FATHOM_WAIT_QUEUE, (int id, void *message, size_t size, long type, int flags),
         (id, message, size, type, flags))

// ---- queues of POSIX, which are descriptors

#define QUEUE(type, name, parameters, arguments)                                                                       \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        fathom_note_file(FATHOM_WAIT_QUEUE, queue);                                                                    \
        type result;                                                                                                   \
        WAIT_SHARED(result, name, FATHOM_WAIT_QUEUE, 0, queue, arguments);                                             \
        return result;                                                                                                 \
    }
QUEUE(int, mq_send, (mqd_t queue, const char *message, size_t size, unsigned priority),
      (queue, message, size, priority))
QUEUE(int, mq_timedsend,
      (mqd_t queue, const char *message, size_t size, unsigned priority, const struct timespec *until),
      (queue, message, size, priority, until))
QUEUE(ssize_t, mq_receive, (mqd_t queue, char *message, size_t size, unsigned *priority),
      (queue, message, size, priority))
QUEUE(ssize_t, mq_timedreceive,
      (mqd_t queue, char *restrict message, size_t size, unsigned *restrict priority,
       const struct timespec *restrict until),
      (queue, message, size, priority, until))

// ---- input and output

#define DONE(name, file, parameters, arguments)                                                                        \
    EXPORT int name parameters {                                                                                       \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_INPUT_OUTPUT, 0, FATHOM_FLOW_NONE);            \
        int result = REAL(name) arguments;                                                                             \
        fathom_wait_ends(                                                                                              \
            begin, (struct fathom_waited){FATHOM_WAIT_INPUT_OUTPUT, file, 0, -1, FATHOM_FLOW_NONE, LEAST_DESCRIPTOR},  \
            HERE(name));                                                                                               \
        return result;                                                                                                 \
    }
DONE(aio_suspend, -1, (const struct aiocb *const blocks[], int count, const struct timespec *restrict time),
     (blocks, count, time))
DONE(lio_listio, -1, (int mode, struct aiocb *const blocks[restrict], int count, struct sigevent *restrict event),
     (mode, blocks, count, event))
DONE(fsync, descriptor, (int descriptor), (descriptor))
DONE(fdatasync, descriptor, (int descriptor), (descriptor))
DONE(syncfs, descriptor, (int descriptor), (descriptor))
DONE(msync, -1, (void *start, size_t size, int flags), (start, size, flags))

// ---- locks of files

#define LOCKF(name, offset)                                                                                            \
    EXPORT int name(int descriptor, int operation, offset size) {                                                      \
        if (IS_ASKED_FOR && operation == F_ULOCK) fathom_note_file(FATHOM_WAIT_FILE_LOCK, descriptor);                 \
        if (!IS_ASKED_FOR || operation != F_LOCK) JUMP REAL(name)(descriptor, operation, size);                        \
        int result;                                                                                                    \
        WAIT_SHARED(result, name, FATHOM_WAIT_FILE_LOCK, 0, descriptor, (descriptor, operation, size));                \
        return result;                                                                                                 \
    }
LOCKF(lockf, off_t)
LOCKF(lockf64, off64_t)

// Variadic: what the third argument is, and whether there is one, depends on the second. It is passed on as the word
// that it is.
typedef int control(int, int, void *);
#define CONTROL(symbol, name)                                                                                          \
    EXPORT control fathom_##name __asm__(symbol);                                                                      \
    int fathom_##name(int descriptor, int operation, void *argument) {                                                 \
        control *real = (control *)behind(BEHIND_##name);                                                              \
        if (!IS_ASKED_FOR) JUMP real(descriptor, operation, argument);                                                 \
        int waits = operation == F_SETLKW || operation == F_OFD_SETLKW;                                                \
        int locks = waits || operation == F_SETLK || operation == F_OFD_SETLK;                                         \
        if (locks && fathom_can_read(argument, sizeof(struct flock)) &&                                                \
            ((const struct flock *)argument)->l_type == F_UNLCK) {                                                     \
            fathom_note_file(FATHOM_WAIT_FILE_LOCK, descriptor);                                                       \
            JUMP real(descriptor, operation, argument);                                                                \
        }                                                                                                              \
        if (!waits) JUMP real(descriptor, operation, argument);                                                        \
        struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_FILE_LOCK, 0, FATHOM_FLOW_DATA);               \
        int result = real(descriptor, operation, argument);                                                            \
        fathom_wait_ends(begin,                                                                                        \
                         (struct fathom_waited){FATHOM_WAIT_FILE_LOCK, descriptor, 0, descriptor, FATHOM_FLOW_NONE,    \
                                                LEAST_DESCRIPTOR},                                                     \
                         HERE(name));                                                                                  \
        return result;                                                                                                 \
    }
CONTROL("fcntl", fcntl)
CONTROL("fcntl64", fcntl64)

FATHOM_WITHOUT_HOOKS_END
