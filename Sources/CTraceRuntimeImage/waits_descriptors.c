// The functions of the C library that wait for descriptors, and those that end such waits.

#define _GNU_SOURCE
#include "masks.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

// Calls the real function `name`, as a wait for a flow through `descriptor`. It shows as a call of `shown`.
#define FLOW(result, name, shown, flow, descriptor, arguments)                                                         \
    struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_DESCRIPTOR, 0, flow);                              \
    result = REAL(name) arguments;                                                                                     \
    fathom_wait_ends(                                                                                                  \
        begin, (struct fathom_waited){FATHOM_WAIT_DESCRIPTOR, descriptor, 0, descriptor, flow, LEAST_DESCRIPTOR},      \
        HERE(shown))

// These may end the wait of whoever has no room to write.
#define READING_AS(type, name, shown, parameters, arguments)                                                           \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        fathom_note_room(descriptor);                                                                                  \
        type result;                                                                                                   \
        FLOW(result, name, shown, FATHOM_FLOW_DATA, descriptor, arguments);                                            \
        return result;                                                                                                 \
    }
#define READING(type, name, parameters, arguments) READING_AS(type, name, name, parameters, arguments)
#define RECEIVE_FROM                                                                                                   \
    (int descriptor, void *restrict bytes, size_t size, int flags, __SOCKADDR_ARG address, socklen_t *restrict length)
#define RECEIVE_FROM_CHECKED                                                                                           \
    (int descriptor, void *restrict bytes, size_t size, size_t room, int flags, __SOCKADDR_ARG address,                \
     socklen_t *restrict length)
READING(ssize_t, read, (int descriptor, void *bytes, size_t size), (descriptor, bytes, size))
READING(ssize_t, readv, (int descriptor, const struct iovec *pieces, int count), (descriptor, pieces, count))
READING(ssize_t, recv, (int descriptor, void *bytes, size_t size, int flags), (descriptor, bytes, size, flags))
READING(ssize_t, recvfrom, RECEIVE_FROM, (descriptor, bytes, size, flags, address, length))
READING(ssize_t, recvmsg, (int descriptor, struct msghdr *message, int flags), (descriptor, message, flags))
READING_AS(ssize_t, __read_chk, read, (int descriptor, void *bytes, size_t size, size_t room),
           (descriptor, bytes, size, room))
READING_AS(ssize_t, __recv_chk, recv, (int descriptor, void *bytes, size_t size, size_t room, int flags),
           (descriptor, bytes, size, room, flags))
READING_AS(ssize_t, __recvfrom_chk, recvfrom, RECEIVE_FROM_CHECKED,
           (descriptor, bytes, size, room, flags, address, length))
READING(int, accept, (int descriptor, __SOCKADDR_ARG address, socklen_t *restrict length),
        (descriptor, address, length))
READING(int, accept4, (int descriptor, __SOCKADDR_ARG address, socklen_t *restrict length, int flags),
        (descriptor, address, length, flags))

READING(ssize_t, pread, (int descriptor, void *bytes, size_t size, off_t place), (descriptor, bytes, size, place))
READING(ssize_t, pread64, (int descriptor, void *bytes, size_t size, off64_t place), (descriptor, bytes, size, place))
READING(ssize_t, preadv, (int descriptor, const struct iovec *pieces, int count, off_t place),
        (descriptor, pieces, count, place))
READING(ssize_t, preadv64, (int descriptor, const struct iovec *pieces, int count, off64_t place),
        (descriptor, pieces, count, place))
READING(ssize_t, preadv2, (int descriptor, const struct iovec *pieces, int count, off_t place, int flags),
        (descriptor, pieces, count, place, flags))
READING(ssize_t, preadv64v2, (int descriptor, const struct iovec *pieces, int count, off64_t place, int flags),
        (descriptor, pieces, count, place, flags))
READING(int, recvmmsg, (int descriptor, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time),
        (descriptor, messages, count, flags, time))
READING(int, eventfd_read, (int descriptor, eventfd_t *value), (descriptor, value))

// These may wait for room, and may end the wait of a reader.
#define WRITING_AND(type, name, flow, note, parameters, arguments)                                                     \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        note;                                                                                                          \
        type result;                                                                                                   \
        FLOW(result, name, name, flow, descriptor, arguments);                                                         \
        return result;                                                                                                 \
    }
#define WRITING(name, parameters, arguments)                                                                           \
    WRITING_AND(ssize_t, name, FATHOM_FLOW_ROOM, fathom_note_data(descriptor), parameters, arguments)

// Where an address that is passed lies. The C library's headers make it a union of pointers.
static const void *at(__CONST_SOCKADDR_ARG address) {
    const void *pointer;
    __builtin_memcpy(&pointer, &address, sizeof pointer);
    return pointer;
}

static void note_data_to(int descriptor, const void *address, socklen_t length) {
    if (address) fathom_note_data_to(descriptor, address, length);
    else fathom_note_data(descriptor);
}

WRITING(write, (int descriptor, const void *bytes, size_t size), (descriptor, bytes, size))
WRITING(writev, (int descriptor, const struct iovec *pieces, int count), (descriptor, pieces, count))
WRITING_AND(int, eventfd_write, FATHOM_FLOW_ROOM, fathom_note_data(descriptor), (int descriptor, eventfd_t value),
            (descriptor, value))
WRITING_AND(int, sendmmsg, FATHOM_FLOW_ROOM, fathom_note_data(descriptor),
            (int descriptor, struct mmsghdr *messages, unsigned count, int flags), (descriptor, messages, count, flags))
WRITING_AND(ssize_t, sendfile, FATHOM_FLOW_ROOM, fathom_note_data(descriptor),
            (int descriptor, int from, off_t *place, size_t size), (descriptor, from, place, size))
WRITING_AND(ssize_t, sendfile64, FATHOM_FLOW_ROOM, fathom_note_data(descriptor),
            (int descriptor, int from, off64_t *place, size_t size), (descriptor, from, place, size))
// It may wait at either end. The one that most wait at is the one that is read from.
WRITING_AND(ssize_t, splice, FATHOM_FLOW_DATA, (fathom_note_data(to), fathom_note_room(descriptor)),
            (int descriptor, off64_t *place, int to, off64_t *other, size_t size, unsigned flags),
            (descriptor, place, to, other, size, flags))
WRITING(send, (int descriptor, const void *bytes, size_t size, int flags), (descriptor, bytes, size, flags))
WRITING_AND(ssize_t, sendto, FATHOM_FLOW_ROOM, note_data_to(descriptor, at(address), length),
            (int descriptor, const void *bytes, size_t size, int flags, __CONST_SOCKADDR_ARG address, socklen_t length),
            (descriptor, bytes, size, flags, address, length))
WRITING_AND(ssize_t, sendmsg, FATHOM_FLOW_ROOM, fathom_note_message(descriptor, message),
            (int descriptor, const struct msghdr *message, int flags), (descriptor, message, flags))
WRITING_AND(int, connect, FATHOM_FLOW_NONE, fathom_note_data_to(descriptor, at(address), length),
            (int descriptor, __CONST_SOCKADDR_ARG address, socklen_t length), (descriptor, address, length))

EXPORT int socketpair(int family, int type, int protocol, int ends[2]) {
    if (!IS_ASKED_FOR) JUMP REAL(socketpair)(family, type, protocol, ends);
    int result = REAL(socketpair)(family, type, protocol, ends);
    if (result == 0) fathom_note_socket_pair(ends);
    return result;
}

// ---- one of several descriptors. Of those that were ready in the end, the first one counts.

struct ready {
    int descriptor;
    uint32_t flow;
};
static const struct ready nothing = {-1, FATHOM_FLOW_NONE};

static struct ready first_polled(const struct pollfd *descriptors, nfds_t count, int result) {
    for (nfds_t i = 0; result > 0 && i < count; i++) {
        if (!descriptors[i].revents) continue;
        int is_room = (descriptors[i].revents & (POLLOUT | POLLIN | POLLRDHUP | POLLHUP)) == POLLOUT;
        return (struct ready){descriptors[i].fd, is_room ? FATHOM_FLOW_ROOM : FATHOM_FLOW_DATA};
    }
    return nothing;
}

// The kernel looks at no more bits than the process may have descriptors, whatever `count` is. So this looks no further
// than the last bit that the kernel has set. Sets may be larger than their type says.
static int is_set(const fd_set *set, int descriptor) {
    return set && (unsigned long)set->fds_bits[descriptor / NFDBITS] & 1ul << descriptor % NFDBITS;
}

static struct ready first_selected(int count, const fd_set *in, const fd_set *out, const fd_set *other, int result) {
    for (int i = 0; result > 0 && i < count; i++) {
        if (is_set(in, i)) return (struct ready){i, FATHOM_FLOW_DATA};
        if (is_set(out, i)) return (struct ready){i, FATHOM_FLOW_ROOM};
        if (is_set(other, i)) result--;
    }
    return nothing;
}

// epoll_wait tells of a descriptor only what the program gave it to tell. So that is kept, by a hash of both; what
// comes later takes the place of what was there. A place whose `change` is odd is being written. The other words are
// relaxed: a reader acquires `change`, and takes what it has read only if `change` is the same behind a fence. The
// writer's fence shows the odd number to whoever finds one of the new words.
#define EPOLLED_LIMIT 4096u
static struct {
    uint32_t change;
    int epoll, descriptor;
    uint64_t data;
} epolled[EPOLLED_LIMIT];
// Whether any of them was asked for room, too. Relaxed: it never goes back, and whoever finds it late is not counted
// among those that wait for room.
static uint32_t flows_epolled = FATHOM_FLOW_DATA;

static uint32_t place_of(int epoll, uint64_t data) {
    return (uint32_t)(((data ^ (uint64_t)(uint32_t)epoll << 32) * 0x9e3779b97f4a7c15ull) >> 52);
}

EXPORT int epoll_ctl(int epoll, int action, int descriptor, struct epoll_event *event) {
    if (!IS_ASKED_FOR) JUMP REAL(epoll_ctl)(epoll, action, descriptor, event);
    int result = REAL(epoll_ctl)(epoll, action, descriptor, event);
    if (result || action == EPOLL_CTL_DEL) return result;
    if (event->events & EPOLLOUT)
        __atomic_store_n(&flows_epolled, FATHOM_FLOW_DATA | FATHOM_FLOW_ROOM, __ATOMIC_RELAXED);
    uint64_t data = event->data.u64;
    __typeof__(*epolled) *place = &epolled[place_of(epoll, data)];
    uint32_t change = __atomic_load_n(&place->change, __ATOMIC_RELAXED);
    if (change & 1 ||
        !__atomic_compare_exchange_n(&place->change, &change, change + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return result;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&place->epoll, epoll, __ATOMIC_RELAXED);
    __atomic_store_n(&place->descriptor, descriptor, __ATOMIC_RELAXED);
    __atomic_store_n(&place->data, data, __ATOMIC_RELAXED);
    __atomic_store_n(&place->change, change + 2, __ATOMIC_RELEASE);
    return result;
}

static struct ready first_epolled(int epoll, const struct epoll_event *events, int result) {
    if (result <= 0) return nothing;
    uint64_t data = events->data.u64;
    __typeof__(*epolled) *place = &epolled[place_of(epoll, data)];
    uint32_t change = __atomic_load_n(&place->change, __ATOMIC_ACQUIRE);
    int is_it = !(change & 1) && __atomic_load_n(&place->epoll, __ATOMIC_RELAXED) == epoll &&
                __atomic_load_n(&place->data, __ATOMIC_RELAXED) == data;
    int descriptor = __atomic_load_n(&place->descriptor, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!is_it || __atomic_load_n(&place->change, __ATOMIC_RELAXED) != change) return nothing;
    int is_room = (events->events & (EPOLLOUT | EPOLLIN | EPOLLRDHUP | EPOLLHUP)) == EPOLLOUT;
    return (struct ready){descriptor, is_room ? FATHOM_FLOW_ROOM : FATHOM_FLOW_DATA};
}

// What a call is about to wait for, and by which descriptor; -1: several.
struct asked {
    uint32_t flows;
    int descriptor;
};

// What the kernel is going to read, if it can. Of more descriptors than these, it is not looked at what is asked of
// them.
#define POLLED_LIMIT 8192u
static struct asked asked_to_poll(const struct pollfd *descriptors, nfds_t count) {
    struct asked asked = {FATHOM_FLOW_DATA, -1};
    if (count > POLLED_LIMIT) asked.flows |= FATHOM_FLOW_ROOM;
    if (!count || count > POLLED_LIMIT || !fathom_can_read(descriptors, count * sizeof *descriptors)) return asked;
    for (nfds_t i = 0; i < count; i++)
        if (descriptors[i].events & POLLOUT) asked.flows |= FATHOM_FLOW_ROOM;
    if (count == 1) asked.descriptor = descriptors->fd;
    return asked;
}

// A mask takes the place of the thread's own for a while. Handlers of signals run meanwhile: see masks.h.
#define UNMASKED(name, parameters, arguments)                                                                          \
    __attribute__((noinline)) static int unmasked_##name parameters {                                                  \
        sigset_t without;                                                                                              \
        int was_blocked = fathom_mask_begins(mask, &without);                                                          \
        mask = &without;                                                                                               \
        int result = REAL(name) arguments;                                                                             \
        fathom_mask_ends(was_blocked);                                                                                 \
        return result;                                                                                                 \
    }
#define MASKS(name, arguments)                                                                                         \
    if (fathom_masks_trap(mask)) return unmasked_##name arguments;
#define MASKS_NOTHING

#define POLLING(name, shown, what, first, masking, parameters, arguments)                                              \
    EXPORT int name parameters {                                                                                       \
        masking if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                          \
        struct asked asked = what;                                                                                     \
        struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_POLL, 0, asked.flows);                         \
        int result = REAL(name) arguments;                                                                             \
        struct ready ready = first;                                                                                    \
        fathom_wait_ends(begin,                                                                                        \
                         (struct fathom_waited){FATHOM_WAIT_POLL, asked.descriptor, 0, ready.descriptor, ready.flow,   \
                                                LEAST_DESCRIPTOR},                                                     \
                         HERE(shown));                                                                                 \
        return result;                                                                                                 \
    }
#define POLL(name, shown, masking, parameters, arguments)                                                              \
    POLLING(name, shown, asked_to_poll(descriptors, count), first_polled(descriptors, count, result), masking,         \
            parameters, arguments)
#define SELECT(name, masking, parameters, arguments)                                                                   \
    POLLING(name, name, ((struct asked){out ? FATHOM_FLOW_DATA | FATHOM_FLOW_ROOM : FATHOM_FLOW_DATA, -1}),            \
            first_selected(count, in, out, other, result), masking, parameters, arguments)
#define EPOLL(name, masking, parameters, arguments)                                                                    \
    POLLING(name, name, ((struct asked){flows_epolled, descriptor}), first_epolled(descriptor, events, result),        \
            masking, parameters, arguments)
// The same for those that take a mask.
#define MASKED(what, name, shown, parameters, arguments)                                                               \
    UNMASKED(name, parameters, arguments)                                                                              \
    what(name, shown MASKS(name, arguments), parameters, arguments)
#define SHOWN(name) name,

POLL(poll, poll, MASKS_NOTHING, (struct pollfd * descriptors, nfds_t count, int time), (descriptors, count, time))
MASKED(POLL, ppoll, SHOWN(ppoll),
       (struct pollfd * descriptors, nfds_t count, const struct timespec *time, const sigset_t *mask),
       (descriptors, count, time, mask))
POLL(__poll_chk, poll, MASKS_NOTHING, (struct pollfd * descriptors, nfds_t count, int time, size_t room),
     (descriptors, count, time, room))
MASKED(POLL, __ppoll_chk, SHOWN(ppoll),
       (struct pollfd * descriptors, nfds_t count, const struct timespec *time, const sigset_t *mask, size_t room),
       (descriptors, count, time, mask, room))
SELECT(select, MASKS_NOTHING,
       (int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other, struct timeval *restrict time),
       (count, in, out, other, time))
MASKED(SELECT, pselect, ,
       (int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
        const struct timespec *restrict time, const sigset_t *restrict mask),
       (count, in, out, other, time, mask))
EPOLL(epoll_wait, MASKS_NOTHING, (int descriptor, struct epoll_event *events, int count, int time),
      (descriptor, events, count, time))
MASKED(EPOLL, epoll_pwait, , (int descriptor, struct epoll_event *events, int count, int time, const sigset_t *mask),
       (descriptor, events, count, time, mask))
MASKED(EPOLL, epoll_pwait2, ,
       (int descriptor, struct epoll_event *events, int count, const struct timespec *time, const sigset_t *mask),
       (descriptor, events, count, time, mask))

// ---- files that are locked

EXPORT int flock(int descriptor, int operation) {
    if (IS_ASKED_FOR && operation & LOCK_UN) fathom_note_file(FATHOM_WAIT_FILE_LOCK, descriptor);
    if (!IS_ASKED_FOR || operation & (LOCK_UN | LOCK_NB)) JUMP REAL(flock)(descriptor, operation);
    struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_FILE_LOCK, 0, FATHOM_FLOW_DATA);
    int result = REAL(flock)(descriptor, operation);
    fathom_wait_ends(
        begin,
        (struct fathom_waited){FATHOM_WAIT_FILE_LOCK, descriptor, 0, descriptor, FATHOM_FLOW_NONE, LEAST_DESCRIPTOR},
        HERE(flock));
    return result;
}

FATHOM_WITHOUT_HOOKS_END
