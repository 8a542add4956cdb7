// System calls that wait, and those that end such waits, made by the C library's syscall().

#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>

#include "masks.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

// What a system call waits for. The first argument is a descriptor, or the number of what is waited for, as `object`
// says.
static struct fathom_waited kind_of(long number, long first) {
    struct fathom_waited waited = {0, -1, 0, -1, FATHOM_FLOW_NONE, LEAST_DESCRIPTOR};
    switch (number) {
    case SYS_futex_waitv: waited.kind = FATHOM_WAIT_FUTEX; break;
    case SYS_io_uring_enter:
        waited.descriptor = (int32_t)first;
        // fall through
    case SYS_io_getevents:
    case SYS_io_pgetevents: waited.kind = FATHOM_WAIT_INPUT_OUTPUT; break;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: waited.kind = FATHOM_WAIT_SLEEP; break;
#ifdef SYS_pause
    case SYS_pause:
#endif
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
        waited.kind = FATHOM_WAIT_SIGNAL;
        waited.object = fathom_own_process();
        break;
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2: waited.kind = FATHOM_WAIT_POLL; break;
    case SYS_wait4:
    case SYS_waitid: waited.kind = FATHOM_WAIT_CHILD; break;
    case SYS_semop:
    case SYS_semtimedop:
        waited.kind = FATHOM_WAIT_SEMAPHORES;
        waited.object = (uint32_t)first + 1;
        break;
    case SYS_msgrcv:
    case SYS_msgsnd:
        waited.kind = FATHOM_WAIT_QUEUE;
        waited.object = (uint32_t)first + 1;
        break;
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4: waited.flow = FATHOM_FLOW_DATA; break;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg: waited.flow = FATHOM_FLOW_ROOM; break;
    default: break;
    }
    if (waited.flow != FATHOM_FLOW_NONE) {
        waited.kind = FATHOM_WAIT_DESCRIPTOR;
        waited.descriptor = waited.ready = (int32_t)first;
    }
    return waited;
}

int fathom_syscall_waits(long number) { return number == SYS_futex || kind_of(number, 0).kind; }

static long futex(long number, long word, long operation, long value, long time, long other, long more) {
    fathom_syscall_function *real = (fathom_syscall_function *)behind(BEHIND_syscall);
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2: break;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_UNLOCK_PI:
        fathom_note_wake(FATHOM_WAIT_FUTEX, (uint64_t)word);
        JUMP real(number, word, operation, value, time, other, more);
    case FUTEX_WAKE_OP:
        fathom_note_wake(FATHOM_WAIT_FUTEX, (uint64_t)word);
        fathom_note_wake(FATHOM_WAIT_FUTEX, (uint64_t)other);
        // fall through
    default: JUMP real(number, word, operation, value, time, other, more);
    }
    struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_FUTEX, (uint64_t)word, FATHOM_FLOW_NONE);
    long result = real(number, word, operation, value, time, other, more);
    fathom_wait_ends(begin, (struct fathom_waited){FATHOM_WAIT_FUTEX, -1, (uint64_t)word, -1, FATHOM_FLOW_NONE, 0},
                     HERE(syscall));
    return result;
}

long fathom_syscall_that_waits(long number, long a, long b, long c, long d, long e, long f) {
    if (number == SYS_futex) JUMP futex(number, a, b, c, d, e, f);
    fathom_syscall_function *real = (fathom_syscall_function *)behind(BEHIND_syscall);
    struct fathom_waited waited = kind_of(number, a);
    // What goes out may end the wait of others, and what comes in gives them room.
    if (waited.flow == FATHOM_FLOW_ROOM) fathom_note_data(waited.descriptor);
    if (waited.flow == FATHOM_FLOW_DATA) fathom_note_room(waited.descriptor);
    if (waited.kind == FATHOM_WAIT_SEMAPHORES || waited.kind == FATHOM_WAIT_QUEUE)
        fathom_note_number(waited.kind, waited.object);
    uint32_t flows = waited.flow == FATHOM_FLOW_NONE ? FATHOM_FLOW_DATA : waited.flow;
    struct fathom_wait_begin begin = fathom_wait_begins(waited.kind, waited.object, flows);
    long result = real(number, a, b, c, d, e, f);
    if (number == SYS_wait4 && result > 0) waited.object = (uint64_t)result;
    fathom_wait_ends(begin, waited, HERE(syscall));
    return result;
}

FATHOM_WITHOUT_HOOKS_END
