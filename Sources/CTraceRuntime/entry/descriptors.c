// What is behind descriptors, in words: of a socket its addresses, of anything else what the kernel calls it in /proc.
//
// A server has one connection after another, each from another port. So a port that was chosen by the kernel is not
// named where the other one was not: all connections to a port then have one name for each machine they come from.

#include "flows.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "../host/runtime.h"
#include "../host/system.h"
#include "../session/metadata.h"

FATHOM_WITHOUT_HOOKS

// The program's own names are to find room, too.
#define MOST_NAMES 1024u
static uint32_t names;

// The kernel chooses ports from here on, as a rule (ip_local_port_range).
#define FIRST_CHOSEN_PORT 32768u

struct text {
    uint32_t size;
    char bytes[FATHOM_NAME_LIMIT + 1];
};

static void add_bytes(struct text *text, const char *bytes, size_t size) {
    size_t room = FATHOM_NAME_LIMIT - text->size;
    if (size > room) size = room;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += (uint32_t)size;
    text->bytes[text->size] = 0;
}
static void add(struct text *text, const char *words) { add_bytes(text, words, strlen(words)); }

static void add_number(struct text *text, uint32_t number, uint32_t base) {
    char digits[10];
    size_t at = sizeof digits;
    do digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    add_bytes(text, digits + at, sizeof digits - at);
}

static uint32_t port_of(const union address *address) {
    // Not by ntohs, which is a function of the C library's headers and may be compiled with hooks.
    uint16_t port = address->any.sa_family == AF_INET ? address->four.sin_port : address->six.sin6_port;
    return (uint32_t)(port >> 8 | (port & 0xff) << 8);
}

static void add_four(struct text *text, const unsigned char *bytes) {
    for (int i = 0; i < 4; i++) {
        if (i) add(text, ".");
        add_number(text, bytes[i], 10);
    }
}

// As RFC 5952 says, but for zeros, of which only those before the last group are left out.
static void add_six(struct text *text, const unsigned char *bytes) {
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, zeros[16] = {0};
    if (!memcmp(bytes, mapped, sizeof mapped)) return add_four(text, bytes + sizeof mapped);
    int zero = 7;  // the groups from here to the last one are 0
    while (zero > 0 && !memcmp(bytes + 2 * (zero - 1), zeros, (size_t)(2 * (8 - zero)))) zero--;
    add(text, "[");
    for (int i = 0; i < 8; i++) {
        if (i == zero && zero < 7) {
            add(text, i ? ":" : "::");
            i = 7;
        } else if (i) {
            add(text, ":");
        }
        add_number(text, (uint32_t)bytes[2 * i] << 8 | bytes[2 * i + 1], 16);
    }
    add(text, "]");
}

static void add_machine(struct text *text, const union address *address) {
    if (address->any.sa_family == AF_INET) add_four(text, (const unsigned char *)&address->four.sin_addr);
    else add_six(text, address->six.sin6_addr.s6_addr);
}

// A path, or a name that begins with NUL. 0 if there is neither.
static int add_path(struct text *text, const union address *address, uint32_t size) {
    size_t start = offsetof(struct sockaddr_un, sun_path);
    // The kernel counts a NUL behind the longest path, for which there is no room.
    if (size > sizeof *address) size = sizeof *address;
    if (size <= start + 1) return 0;
    const char *path = address->path.sun_path;
    size_t count = size - start;
    add(text, "the local socket ");
    if (path[0]) {
        add_bytes(text, path, strnlen(path, count));
    } else {
        add(text, "@");
        add_bytes(text, path + 1, strnlen(path + 1, count - 1));
    }
    return 1;
}

static int describe_socket(struct text *text, const struct descriptor *socket) {
    const union address *own = &socket->own, *other = &socket->other;
    if (!socket->has_address) return 0;
    switch (own->any.sa_family) {
    case AF_UNIX:
        if (!(socket->is_connected && add_path(text, other, socket->other_size)) &&
            !add_path(text, own, socket->own_size))
            add(text, "a local socket");
        return 1;
    case AF_INET:
    case AF_INET6: break;
    default: return 0;
    }
    uint32_t port = port_of(own);
    if (!socket->is_connected) {
        add(text, "a socket at port ");
        add_number(text, port, 10);
        return 1;
    }
    if (port < FIRST_CHOSEN_PORT && port_of(other) >= FIRST_CHOSEN_PORT) {
        add(text, "connections at port ");
        add_number(text, port, 10);
        add(text, " from ");
        add_machine(text, other);
        return 1;
    }
    add(text, "a connection to ");
    add_machine(text, other);
    add(text, ":");
    add_number(text, port_of(other), 10);
    return 1;
}

static int describe_other(struct text *text, int descriptor) {
    struct text link = {0};
    add(&link, "/proc/self/fd/");
    add_number(&link, (uint32_t)descriptor, 10);
    char target[FATHOM_NAME_LIMIT + 1];
    long size = system_read_link(link.bytes, target, sizeof target);
    // What has no room is not named, because its beginning may be another file's.
    if (size <= 0 || size >= (long)sizeof target) return 0;
    static const char pipe[] = "pipe:[", anonymous[] = "anon_inode:";
    if (size > (long)sizeof pipe && !memcmp(target, pipe, sizeof pipe - 1)) {
        add(text, "a pipe (");
        add_bytes(text, target + sizeof pipe - 1, (size_t)size - sizeof pipe);
        add(text, ")");
    } else if (size > (long)sizeof anonymous && !memcmp(target, anonymous, sizeof anonymous - 1)) {
        const char *name = target + sizeof anonymous - 1;
        size_t count = (size_t)size - (sizeof anonymous - 1);
        int is_bracketed = name[0] == '[' && name[count - 1] == ']';
        add(text, "an ");
        add_bytes(text, name + is_bracketed, count - 2 * (size_t)is_bracketed);
    } else {
        add_bytes(text, target, (size_t)size);
    }
    return 1;
}

uint32_t descriptor_name(const struct descriptor *descriptor) {
    struct text text = {0};
    if (!descriptor->is_open) return 0;
    if (!describe_socket(&text, descriptor) && !describe_other(&text, descriptor->number)) return 0;
    uint32_t known = name_known(FATHOM_NAME_OBJECT, text.bytes);
    // Relaxed: it is a bound, and says nothing about anything else.
    if (known || __atomic_fetch_add(&names, 1, __ATOMIC_RELAXED) >= MOST_NAMES) return known;
    return name_intern(FATHOM_NAME_OBJECT, text.bytes);
}

FATHOM_WITHOUT_HOOKS_END
