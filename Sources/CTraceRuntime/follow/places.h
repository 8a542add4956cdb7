// Return places: where calls return to whose ends the runtime is to hear of.
//
// A place is 32 bytes of code, in a pool of them (entry/library_calls.c):
//
//     call *target            the call goes on from here, so the processor predicts where it returns to: here
//     push return_address     and here it does
//     push $number
//     jmp                     to what tells of the call's end and returns to its caller
//
// Whoever begins a call takes its return address off the stack and jumps to a place. The place's call then writes the
// place's own address to where the return address was. The stack is as it was, and all of its frames can be unwound by
// the one FDE that the pool has: it finds the caller's address in the place. So exceptions, forced unwinding and
// debuggers pass through.
//
// A place belongs to a return address and where that lies on a stack, and holds both. Whoever comes by the same place
// on the same stack finds the same place again, so a place is right for a call that is still to return, even where a
// coroutine has left it for a while. Only a place whose calls have all returned, or were left by a jump that was told
// of, is given to another one. What it held before is kept for a while: a stack that was copied may return by it once
// more. A call that never returns keeps its place. Where no place is free, a call is not heard of.

#ifndef FATHOM_PLACES_H
#define FATHOM_PLACES_H

#include "../host/base.h"

#if defined(__x86_64__)

#define PLACE_COUNT 16384
#define PLACE_SIZE 32  // bytes of code

// The assembly knows the first two fields and the size, which is that of a cache line.
struct place {
    uintptr_t target;          // where the call goes on
    uintptr_t return_address;  // where it returns to in the end
    uintptr_t stack_pointer;   // where the return address lies
    uint32_t open;             // calls that are to return here, or never will; PLACE_TAKEN: it is being given away
    // Of a call of a function with hooks, which tell of the call: how many of its enter hooks have no exit hook yet, or
    // PLACE_ENDED where the last exit hook has come. 0 in place of the function: no hooks tell of the call.
    uint32_t hooks;
    uintptr_t function;
} __attribute__((aligned(64)));
#define PLACE_TAKEN UINT32_MAX
#define PLACE_ENDED UINT32_MAX
_Static_assert(sizeof(struct place) == 64 && offsetof(struct place, return_address) == 8, "the assembly knows them");

extern struct place places[PLACE_COUNT] __attribute__((visibility("hidden")));

// All are async-signal-safe.
// The place of a return address at `sp`, with one more call open; NULL where none is free.
struct place *place_take(uintptr_t return_address, uintptr_t sp);
// A jump has left the call that was to return there, if it came by a place.
void place_abandon(uintptr_t return_address, uintptr_t sp);
// A call has returned to a place, from `sp` on the stack, or will not because another takes its place there. Returns
// where it goes on in the end. The place need not be its own any more (a stack that was copied).
uintptr_t place_give(struct place *place, uintptr_t sp);
// Whether it still is.
INTERNAL int place_is_of(const struct place *place, uintptr_t sp) { return place->stack_pointer == sp; }

#else

INTERNAL void place_abandon(uintptr_t return_address, uintptr_t sp) { (void)return_address, (void)sp; }

#endif

#endif
