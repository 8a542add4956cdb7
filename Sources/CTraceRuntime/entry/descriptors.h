// What is behind descriptors, in words.

#ifndef FATHOM_DESCRIPTORS_H
#define FATHOM_DESCRIPTORS_H

#include "flows.h"

// The id of a name for what is behind a descriptor: a file's path, a pipe, the other end of a connection. 0 when it is
// not known, or when there are too many. Async-signal-safe; a system call of what is no socket.
uint32_t descriptor_name(const struct descriptor *descriptor);

#endif
