// Calls of library functions, by the slots through which modules call other modules (--libcalls). Each slot that can
// lead to the runtime harmlessly is made to, by a stub of its own.

#ifndef FATHOM_LIBRARY_SLOTS_H
#define FATHOM_LIBRARY_SLOTS_H

#include "../host/base.h"

// The function that a slot leads to. There is one for each stub, which are 16 bytes of code in a pool of them
// (entry/library_calls.c). Neither ever goes away: a thread may be in a stub.
struct library_call {
    uintptr_t target;    // where calls go on
    uintptr_t function;  // by whose address calls are recorded: the function, or what chooses it (IFUNC)
    uintptr_t *slot;
    const char *name;     // as the module calls it; it is there as long as the module
    const char *version;  // that it asks for by name, where others find another one by default; NULL: none
    uint32_t is_told;     // the session has the name
    uint16_t is_passed;   // the call is not recorded, because it would look at where it returns to
    // The target is what chooses the function (IFUNC), and has not been asked yet; the slot does not lead here.
    uint16_t is_to_choose;
};
#define LIBRARY_CALL_COUNT 32768
#define LIBRARY_STUB_SIZE 16
extern struct library_call library_calls[LIBRARY_CALL_COUNT] __attribute__((visibility("hidden")));

// The image begins with this environment, and nothing was loaded yet but what it needs.
void library_slots_begin(char **environment);
// Finds the slots of modules that are loaded now, and makes them lead to stubs. A module that the dynamic linker has
// not finished is left for the next time, which runtime.modules_stale asks for; a slot that is still to be bound, until
// there is one.
void library_slots_scan(void);
// Makes all slots as they would be without this, and takes none any more in this session.
void library_slots_restore(void);

// What becomes of calls of a function of that name.
enum library_fate {
    LIBRARY_RECORDED,
    LIBRARY_PASSED,
    LIBRARY_LEFT,  // its slot is left alone
};
enum library_fate library_name_fate(const char *name);
// Whether a module of that name is part of the C library, the dynamic linker, the unwinder or a sanitizer; a sanitizer.
int library_is_system(const char *name);
int library_is_sanitizer(const char *name);

// Of slots that any code may read as data (GLOB_DAT): marks those that the module's code only calls or jumps through.
// `marks` has one byte for each slot, all 0, and the slots stand in the order of their addresses. O(bytes of code), and
// more where code refers to slots.
struct dl_phdr_info;
void library_slots_mark_uses(const struct dl_phdr_info *module, uintptr_t *const *slots, uint8_t *marks, size_t count);

#endif
