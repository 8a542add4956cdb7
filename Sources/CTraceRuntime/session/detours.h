// Detours: functions without hooks whose calls are recorded all the same (--any). The recorder judges which functions
// are fit for that (CDetours.h).
//
// The first five bytes of such a function, or those behind a mark (ENDBR64), are a jump to its stub, which lies in
// memory near the module (on aarch64 the first instruction; detour_code_aarch64.c):
//
//     push $number            closed: jmp over the next instruction
//     jmp *entry              to what tells of the call (entry/detour_calls.c), and goes on by a return place
//     ...                     what stood where the jump is now
//     jmp                     back into the function
//
// Unwinders take a thread in there for one that is where the instruction stood (session/detour_frames.h).
//
// A detour is closed and opened by one store to its stub. The function itself is changed only while no thread runs it:
// before the program starts, or while all threads are stopped by somebody who attaches, and none is in the midst of
// what is changed. It becomes what it was while all threads are stopped: a jump has no midst.

#ifndef FATHOM_DETOURS_H
#define FATHOM_DETOURS_H

#include "CTraceFunctions.h"
#include "entries.h"

FATHOM_WITHOUT_HOOKS

// Its functions become functions of the files that use them, which have no hooks.
#include "CDetoursARM.h"

FATHOM_WITHOUT_HOOKS_END

#if defined(__x86_64__)
#define DETOUR_SIZE FATHOM_DETOUR_SIZE
#else
#define DETOUR_SIZE FATHOM_ARM_DETOUR_SIZE
#endif

// There is one for each stub. None ever goes away: a thread may be in a stub.
struct detour {
    uintptr_t function;
    uintptr_t target;           // where calls go on
    uint8_t code[DETOUR_SIZE];  // what stood where the jump is
    uint8_t place;              // how many bytes behind the function's beginning that is
    uint8_t moved;              // bytes that were moved from there
    uint8_t is_left : 1;        // the function stays as it is
    uint8_t is_closed : 1;      // to keep to the budget
    uint8_t has_hooks : 1;      // these tell of its calls, and the detour of what they return
};
#define DETOUR_LIMIT (1u << 20)
// By number; the memory is mapped with the first ones.
extern struct detour *detours __attribute__((visibility("hidden")));

// Gives functions detours, as the recorder's table has them. `texts` are the module's code. The caller holds
// LOCK_MODULES.
void detours_add(uintptr_t bias, const struct texts *texts, const char *list, uint32_t count);
// The module there is gone; the caller holds LOCK_MODULES.
void detours_forget(uintptr_t low, uintptr_t high);
// Writes to the session what became of detours since the last time.
void detours_tell(void);
// Makes the function at `address`, whose code is no longer than a jump, go on at `target`, which stands in for it. No
// other thread runs. Returns whether that was possible.
int detours_replace(uintptr_t address, void (*target)(void));
// Whether the function has a detour.
int detours_have(uintptr_t function);
// Closes those of `functions` that have detours, and leaves the others there. Returns how many these are.
uint32_t detours_close(uintptr_t *functions, uint32_t count);
// Closes all. Threads may be running meanwhile, and soon none is in the runtime for them.
void detours_close_all(void);
// What tells unwinders of the stubs at an address, from `*low` up to `*high`; NULL: there are none. Async-signal-safe.
const void *detours_frames(uintptr_t address, uintptr_t *low, uintptr_t *high);
// For whoever detaches: whether there are, or were, some.
extern uint32_t fathom_has_detours;
// Whether no thread runs code of modules that are found from now on, so that they can get detours.
void detours_allow(int are_safe);
// All threads are stopped. Looks for those that detours_begin would pull the code away from. `addresses` are where
// threads are that can be made to go on elsewhere, `threads` of them, and then where others are, or will be when a
// signal's handler returns. In place of an address of the former kind that lies in the midst of what is to be changed,
// there stands the one where its thread has to go on, as it can at once. A function that one of the latter kind lies in
// the midst of gets none.
void detours_move(uint64_t *addresses, size_t threads, size_t count);
// All threads are stopped. Gives functions detours that were found since somebody has begun to attach.
void detours_begin(void);
// All threads are stopped. Makes functions what they were.
void detours_restore(void);

#endif
