// Return places: where calls return to whose ends the runtime is to hear of.
//
// A place is 16 bytes of code, in a pool of them:
//
//     call *target    the call goes on from here, so the processor predicts where it returns to: here
//     push $number    and here it does
//     jmp             to what tells of the call's end and returns to its caller
//
// Whoever begins a call takes its return address off the stack and jumps to a place. The place's call then writes the
// place's own address to where the return address was. The stack is as it was, and all of its frames can be unwound by
// the one FDE that the pool has: it finds the caller's address in the place. So exceptions, forced unwinding and
// debuggers pass through.
//
// A place belongs to a return address and where that lies on a stack, and holds both. Whoever comes by the same place
// on the same stack finds the same place again, so a place is never wrong for a call that is still to return, even
// where jumps, exceptions or coroutines have left that call for a while, or for ever. Only a place whose calls have all
// returned is given to another one. A call that never returns keeps its place. Where no place is free, a call is not
// heard of.

#ifndef FATHOM_PLACES_H
#define FATHOM_PLACES_H

#include "../host/base.h"

#if defined(__x86_64__)

#define PLACE_COUNT 16384
#define PLACE_SIZE 16  // bytes of code

struct library_call;

// The assembly knows the first two fields and the size, which is that of a cache line.
struct place {
    uintptr_t target;              // where the call goes on
    uintptr_t return_address;      // where it returns to in the end
    uintptr_t stack_pointer;       // where the return address lies
    uint32_t open;                 // calls that are to return here, or never will; PLACE_TAKEN: it is being given away
    struct library_call *binding;  // whose slot is bound by the call that came last; NULL: none
} __attribute__((aligned(64)));
#define PLACE_TAKEN UINT32_MAX
_Static_assert(sizeof(struct place) == 64 && offsetof(struct place, return_address) == 8, "the assembly knows them");

extern struct place places[PLACE_COUNT] __attribute__((visibility("hidden")));
extern const char place_code[PLACE_COUNT * PLACE_SIZE] __attribute__((visibility("hidden")));

// The place of a return address at `sp`, with one more call open; NULL where none is free. Async-signal-safe.
struct place *place_take(uintptr_t return_address, uintptr_t sp);

// A call has returned to its place, or will not because another takes its place on the stack. Release: whoever takes
// the place next finds that nobody needs it.
INTERNAL void place_give(struct place *place) {
    // Relaxed: only whoever runs on that stack changes it while it is not 0.
    uint32_t open = __atomic_load_n(&place->open, __ATOMIC_RELAXED);
    __atomic_store_n(&place->open, open ? open - 1 : 0, __ATOMIC_RELEASE);
}

INTERNAL uintptr_t place_address(const struct place *place) {
    return (uintptr_t)place_code + (uintptr_t)(place - places) * PLACE_SIZE;
}
// The place that returns to an address. NULL: it is none of a place.
INTERNAL struct place *place_at(uintptr_t return_address) {
    uintptr_t distance = return_address - (uintptr_t)place_code;
    return distance < sizeof place_code ? &places[distance / PLACE_SIZE] : NULL;
}

#endif

#endif
