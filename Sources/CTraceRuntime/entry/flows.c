// What goes through descriptors, as numbers that are the same at both ends. A pipe has a number of the kernel's at both
// ends; a socket of the internet has the two addresses, in the order of the direction; two sockets of socketpair are
// remembered. An event descriptor is known by where the process has it, because the kernel gives all of them one
// number.

#include "flows.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "../host/runtime.h"
#include "../host/system.h"

FATHOM_WITHOUT_HOOKS

// The other end of a socket, by a hash of its number. A newer pair takes the place of an older one. A place is
// changed in steps: no socket, the other end, the socket. Each of the last two steps releases the one before, and a
// reader acquires both words: it finds the other end of the socket that it has found, unless the place was changed
// meanwhile, which it finds when it looks at the socket once more. Two threads that change a place at once may leave
// a pair that is none, whose waits nobody is found to have ended.
#define PAIR_LIMIT 1024u
static struct { uint64_t socket, other; } pairs[PAIR_LIMIT];

// An end of a connection: an address that is written in one way only, or a socket's number.
struct end {
    unsigned char address[16];
    uint32_t port;
    uint32_t family;
};

// Returns the number of what flows between two ends, in one direction. The same ends and the same type always give the
// same number, which is not 0 and whose two upper bits are not set.
static uint64_t number(const struct end *from, const struct end *to, uint32_t type) {
    struct {
        struct end from, to;
        uint64_t type;
    } all;
    memset(&all, 0, sizeof all);
    if (from) all.from = *from;
    all.to = *to;
    all.type = type;
    return fathom_hash(&all, sizeof all) >> 2 | 1;
}

// 0 when it is none that both ends know.
static int end_of(const union address *address, uint32_t size, struct end *end) {
    memset(end, 0, sizeof *end);
    end->family = address->any.sa_family;
    if (size < sizeof address->any.sa_family) return 0;
    switch (address->any.sa_family) {
    case AF_INET:
        if (size < sizeof address->four) return 0;
        end->family = AF_INET6;
        end->address[10] = end->address[11] = 0xff;
        memcpy(end->address + 12, &address->four.sin_addr, 4);
        end->port = address->four.sin_port;
        return 1;
    case AF_INET6:
        if (size < sizeof address->six) return 0;
        memcpy(end->address, &address->six.sin6_addr, sizeof end->address);
        end->port = address->six.sin6_port;
        return 1;
    default: return 0;
    }
}

static int is_of_this_machine(const struct end *end) {
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const unsigned char loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    if (!memcmp(end->address, mapped, sizeof mapped)) return end->address[12] == 127;
    return !memcmp(end->address, loopback, sizeof loopback);
}

// Whoever listens at a port does so for all of the machine's addresses, as far as this tells.
static uint64_t listening(const union address *address, uint32_t size, int type) {
    struct end end;
    if (end_of(address, size, &end)) {
        memset(end.address, 0, sizeof end.address);
        return number(NULL, &end, (uint32_t)type);
    }
    if (address->any.sa_family != AF_UNIX || size <= offsetof(struct sockaddr_un, sun_path)) return 0;
    const char *path = address->path.sun_path;
    size_t count = size - offsetof(struct sockaddr_un, sun_path);
    // A path may be passed with its NUL, or without. One that begins with NUL is a name of another kind.
    if (path[0]) count = strnlen(path, count);
    uint64_t sum = fathom_hash(path, count);
    memset(&end, 0, sizeof end);
    end.family = AF_UNIX;
    memcpy(end.address, &sum, sizeof sum);
    return number(NULL, &end, (uint32_t)type);
}

struct descriptor descriptor_look(int number) {
    struct descriptor found;
    memset(&found, 0, sizeof found);
    found.number = number;
    found.is_open = !system_status(number, &found.status);
    if (!found.is_open || (found.status.st_mode & S_IFMT) != S_IFSOCK) return found;
    found.own_size = sizeof found.own;
    found.other_size = sizeof found.other;
    found.has_address = !system_socket_name(number, &found.own, &found.own_size);
    found.is_connected = found.has_address && !system_socket_peer(number, &found.other, &found.other_size);
    return found;
}

static uint64_t through_socket(const struct descriptor *socket, int is_out) {
    struct end ends[2];
    uint64_t inode = socket->status.st_ino;
    if (!socket->has_address) return 0;
    if (!socket->is_connected)
        return is_out ? 0 : listening(&socket->own, socket->own_size, system_socket_type(socket->number));
    if (socket->own.any.sa_family == AF_UNIX) {
        uint32_t place = (uint32_t)(inode % PAIR_LIMIT);
        if (__atomic_load_n(&pairs[place].socket, __ATOMIC_ACQUIRE) != inode) return 0;
        memset(ends, 0, sizeof ends);
        ends[0].family = ends[1].family = AF_UNIX;
        // With acquire: when another pair has taken the place, its `other` is seen only after its `socket`.
        uint64_t other = __atomic_load_n(&pairs[place].other, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&pairs[place].socket, __ATOMIC_RELAXED) != inode) return 0;
        memcpy(ends[0].address, &inode, sizeof inode);
        memcpy(ends[1].address, &other, sizeof other);
        return number(&ends[!is_out], &ends[is_out], 0);
    }
    if (!end_of(&socket->own, socket->own_size, &ends[0]) || !end_of(&socket->other, socket->other_size, &ends[1]))
        return 0;
    return number(&ends[!is_out], &ends[is_out], 0);
}

static uint64_t number_of(const struct stat *status) {
    return ((uint64_t)status->st_ino ^ (uint64_t)status->st_dev << 40) & ~(3ull << 62);
}

uint64_t file_behind(const struct descriptor *descriptor) {
    return descriptor->is_open ? number_of(&descriptor->status) : 0;
}

uint64_t flow_through(const struct descriptor *descriptor, int is_out) {
    if (!descriptor->is_open) return 0;
    switch (descriptor->status.st_mode & S_IFMT) {
    case S_IFIFO:
    case S_IFCHR: return number_of(&descriptor->status);
    case S_IFSOCK: return through_socket(descriptor, is_out);
    case 0: return 1ull << 63 | (uint64_t)(runtime.pid & 0x3fffffff) << 32 | (uint32_t)descriptor->number;
    default: return 0;
    }
}

uint64_t flow_to(int descriptor, const void *address, uint32_t size) {
    union address copy;
    struct end end;
    if (!address || size > sizeof copy || size < sizeof copy.any.sa_family) return 0;
    memset(&copy, 0, sizeof copy);
    // The kernel reads it next, and says so when it cannot.
    if (!system_can_read(address, size)) return 0;
    memcpy(&copy, address, size);
    if (copy.any.sa_family != AF_UNIX && !(end_of(&copy, size, &end) && is_of_this_machine(&end))) return 0;
    return listening(&copy, size, system_socket_type(descriptor));
}

void flow_pair(const int *ends) {
    struct stat one, other;
    if (system_status(ends[0], &one) || system_status(ends[1], &other)) return;
    uint64_t sockets[2] = {one.st_ino, other.st_ino};
    for (int i = 0; i < 2; i++) {
        uint32_t place = (uint32_t)(sockets[i] % PAIR_LIMIT);
        __atomic_store_n(&pairs[place].socket, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&pairs[place].other, sockets[!i], __ATOMIC_RELEASE);
        __atomic_store_n(&pairs[place].socket, sockets[i], __ATOMIC_RELEASE);
    }
}

FATHOM_WITHOUT_HOOKS_END
