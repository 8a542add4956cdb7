// Calls of library functions, by the slots through which modules call other modules (--libcalls). Each slot that can
// lead to the runtime harmlessly is made to, by a stub of its own.

#ifndef FATHOM_LIBRARY_SLOTS_H
#define FATHOM_LIBRARY_SLOTS_H

#include "../host/base.h"

#if defined(__x86_64__)

// Whether the dynamic linker binds a slot at its first call.
enum {
    LAZY_NOT,  // it is bound
    LAZY_YES,
    LAZY_BINDING,  // it is among those of which a call is on its way
};

// The function that a slot leads to. It lives as long as its module is loaded.
struct library_call {
    uintptr_t target;    // where calls go on: the function, or what finds it and binds the slot
    uintptr_t function;  // by whose address calls are recorded: the function, or what chooses it (IFUNC)
    uintptr_t *slot;
    uintptr_t stub;             // what the slot holds
    const char *name;           // as the module calls it
    const char *version;        // that it asks for by name, where others find another one by default; NULL: none
    uint32_t is_told;           // the session has the name
    uint32_t is_lazy;           // LAZY_*
    struct library_call *next;  // of those that are being bound
};

// The image begins with this environment, and nothing was loaded yet but what it needs.
void library_slots_begin(char **environment);
// Finds the slots of modules that are loaded now, and makes them lead to stubs, which jump to
// fathom_image.library_entry with the struct library_call in r11. A module that the dynamic linker has not finished is
// left for the next time.
void library_slots_scan(void);
void library_slots_forget(uintptr_t low, uintptr_t high);  // the module there is gone
// Makes all slots as they would be without this, and forgets them. The stubs stay where they are, because a thread may
// be in one.
void library_slots_restore(void);

// The dynamic linker is about to bind the slot. Async-signal-safe, as the next two are.
void library_slot_binds(struct library_call *call);
// Takes a slot back if it has bound it, or all of those.
void library_slot_take_back(struct library_call *call);
void library_slots_take_back(void);
extern struct library_call *library_slots_binding __attribute__((visibility("hidden")));

// Which functions are left alone, whoever calls them, and why.
int library_name_is_left(const char *name);
// Whether the options ask for a function of that name.
int library_name_is_asked(const char *name);

// Of slots that any code may read as data (GLOB_DAT): marks those that the module's code only calls or jumps through.
// `marks` has one byte for each slot, all 0. O(bytes of code), and more where code refers to slots.
struct dl_phdr_info;
void library_slots_mark_uses(const struct dl_phdr_info *module, uintptr_t *const *slots, uint8_t *marks, size_t count);

#else

INTERNAL void library_slots_begin(char **environment) { (void)environment; }
INTERNAL void library_slots_scan(void) {}
INTERNAL void library_slots_forget(uintptr_t low, uintptr_t high) { (void)low, (void)high; }
INTERNAL void library_slots_restore(void) {}

#endif

#endif
