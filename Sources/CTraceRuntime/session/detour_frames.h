// What tells unwinders of the code that was moved, in the memory of a module's stubs (session/detours.h). A thread
// there is taken for one that is where the instruction stood, so what holds there holds: the frame, and what handles
// exceptions.
//
// A stub has a frame of its own, which has the address in the function as its return address, and no size. On x86-64,
// one FDE is for all stubs of a module: behind the stubs lies a byte for each of their units of code, which leads from
// an address to the stub and so to its function. On aarch64, each has one.

#ifndef FATHOM_DETOUR_FRAMES_H
#define FATHOM_DETOUR_FRAMES_H

#include "detours.h"

// The byte for a unit of a stub, of which the first one is the stub's head: how many units behind the head it is, and
// how many bytes behind the function's beginning its first byte stood.
INTERNAL uint8_t frames_unit(uint8_t unit, uint8_t stood) { return (uint8_t)(stood << 3 | unit); }
// Bytes of all that lies behind the stubs, of so many detours.
size_t frames_size(size_t stubs, uint32_t count);
// Writes it, but for the bytes of units. Of all detours by number, those of the module are `count` from `first` on, in
// the order of their stubs.
void frames_write(char *memory, size_t stubs, const struct detour *all, uint32_t first, uint32_t count);
// What the program headers of a module would lead to (PT_GNU_EH_FRAME).
const void *frames_of(const char *memory, size_t stubs);

#endif
