// What goes through descriptors, as numbers that are the same at both ends.

#ifndef FATHOM_FLOWS_H
#define FATHOM_FLOWS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
};

// What the kernel says of a descriptor.
struct descriptor {
    int number;
    int is_open;
    struct stat status;
    // Of a socket alone.
    int has_address, is_connected;
    union address own, other;
    socklen_t own_size, other_size;
};
// One system call, and two more of a socket. Async-signal-safe.
struct descriptor descriptor_look(int number);

// What is read from a descriptor or, with `is_out`, written to it. 0 when that cannot be told, and for files, whose
// readers wait for no writer.
uint64_t flow_through(const struct descriptor *descriptor, int is_out);
// Connections to a socket that listens at an address of this machine, or datagrams that are sent there by `descriptor`.
uint64_t flow_to(int descriptor, const void *address, uint32_t size);
// The file behind a descriptor.
uint64_t file_behind(const struct descriptor *descriptor);
// Two sockets are connected with each other.
void flow_pair(const int *ends);

// What is behind descriptors, in words.

// The id of a name for what is behind a descriptor: a file's path, a pipe, the other end of a connection. 0 when it is
// not known, or when there are too many. Async-signal-safe; a system call of what is no socket.
uint32_t descriptor_name(const struct descriptor *descriptor);

#endif
