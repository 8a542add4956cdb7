// What goes through descriptors, as numbers that are the same at both ends.

#ifndef FATHOM_FLOWS_H
#define FATHOM_FLOWS_H

#include <stdint.h>

// What is read from a descriptor or, with `is_out`, written to it. 0 when that cannot be told, and for files, whose
// readers wait for no writer.
uint64_t flow_through(int descriptor, int is_out);
// Connections to a socket that listens at an address of this machine, or datagrams that are sent there by `descriptor`.
uint64_t flow_to(int descriptor, const void *address, uint32_t size);
// The file behind a descriptor.
uint64_t file_behind(int descriptor);
// Two sockets are connected with each other.
void flow_pair(const int *ends);

#endif
