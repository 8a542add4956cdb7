// What is behind descriptors, in words.

#ifndef FATHOM_DESCRIPTORS_H
#define FATHOM_DESCRIPTORS_H

#include <stdint.h>

// The id of a name for what is behind a descriptor now: a file's path, a pipe, the other end of a connection. 0 when it
// is not known, or when there are too many. Async-signal-safe; makes up to four system calls.
uint32_t descriptor_name(int descriptor);

#endif
