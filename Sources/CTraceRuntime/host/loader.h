// The loader's list of modules, under the loader's own lock, which is held while functions go through the list. While a
// program does that by dl_iterate_phdr, it may wait for another thread. That thread may be in a hook, and must not wait
// for the list. So it is known when the program goes through the list, and the runtime goes through it only when no
// other thread of the program does.

#ifndef FATHOM_LOADER_H
#define FATHOM_LOADER_H

#include "locks.h"

// For how long the runtime tries. Hooks give up at once, and look again later.
#define LOADER_NOW 0u
#define LOADER_PATIENCE 100000000u  // ns

// Goes through the list as dl_iterate_phdr does, and returns what the last call of `look` returns; -1 if the list could
// not be had. While this goes on, modules stay. `look` does not wait, but for LOCK_SLEDS and later ones.
int loader_modules(fathom_look *look, void *result, uint64_t patience);

// How often modules have come and gone (dlpi_adds and dlpi_subs); 0 where the C library does not say.
unsigned long long loader_version(const struct dl_phdr_info *info, size_t size);

// The stack that this takes, in bytes.
INTERNAL size_t loader_stack_room(void) { return vectors_matter ? STACK_ROOM_SLEDS : STACK_ROOM_LISTS; }
// Touches it, for those that block signals before they call it.
INTERNAL void loader_touch_stack(void) { system_touch_stack(loader_stack_room()); }
// For what may as well be done later, on another stack.
INTERNAL int loader_has_stack(void) { return system_has_stack(loader_stack_room()); }
int loader_is_free(void);  // no thread is in loader_modules

// Before and after a fork. No thread is in loader_modules while the process forks, unless somebody forks without the C
// library.
void loader_before_fork(void);
void loader_after_fork(void);
void loader_after_fork_in_child(void);

// Control lands in a frame at this stack pointer: the thread has left dl_iterate_phdr if that lay below.
void loader_landed(uintptr_t stack_pointer);

#endif
