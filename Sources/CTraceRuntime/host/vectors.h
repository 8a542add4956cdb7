// The runtime's code uses general registers alone (Package.swift), because sleds and detours stand where vector
// registers hold arguments and results (entry/sled_hooks.c), and compilers let callers of functions that use few
// registers keep values in the others (gcc's -fipa-ra). What it calls of others may use any.

#ifndef FATHOM_VECTORS_H
#define FATHOM_VECTORS_H

#include <stddef.h>

// Compilers make calls of these, for copies of structures too. The C library's use vector registers.
__asm__("memcpy = vectors_copy");
__asm__("memset = vectors_fill");
__asm__("memcmp = vectors_compare");
__asm__("bcmp = vectors_compare");
__asm__("strlen = vectors_length");

// Whether a sled or a stub may have led here: the process has opened some.
extern int vectors_matter __attribute__((visibility("hidden")));
// Calls a function of somebody else's, and keeps the vector registers as they are if they matter.
long vectors_keep(long (*function)(void *), void *argument);

#endif
