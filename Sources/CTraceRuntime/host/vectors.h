// The runtime's code for x86-64 uses general registers alone (Package.swift), because sleds stand where vector
// registers hold arguments and results (entry/sled_hooks.c). What it calls of others may use any.

#ifndef FATHOM_VECTORS_H
#define FATHOM_VECTORS_H

#include <stddef.h>

// Compilers make calls of these, for copies of structures too. The C library's use vector registers.
#if defined(__x86_64__)
__asm__("memcpy = vectors_copy");
__asm__("memset = vectors_fill");
__asm__("memcmp = vectors_compare");
__asm__("bcmp = vectors_compare");
__asm__("strlen = vectors_length");
#endif

// Whether a sled may have led here: the process has opened some.
extern int vectors_matter __attribute__((visibility("hidden")));
// Calls a function of somebody else's, and keeps the vector registers as they are if they matter.
long vectors_keep(long (*function)(void *), void *argument);

#endif
