// Rust's names, read by libiberty of binutils and gcc.

#ifndef CRUSTNAMES_H
#define CRUSTNAMES_H

#include <stddef.h>

// Demangles a name of Rust's legacy or v0 mangling, without the hash. Writes it to `room`, as UTF-8 without a NUL, and
// returns its size in bytes; 0 when it is no such name, or is longer than `size`, which ends the reading. Names may
// refer to their own parts, so that is what bounds the time: O(size + length of the name) steps, each of which goes
// down libiberty's 1024 levels at most. Takes up to 400 KB of stack. Any thread may call it.
size_t rust_name(const char *mangled, char *room, size_t size);

#endif
