// Return places: where calls return to whose ends the runtime is to hear of.
//
// A place is 32 bytes of code, in a pool of them (entry/place_calls.c):
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
// On aarch64, a place is 16 bytes. The return address is in x30, and no place on the stack is known where it will lie.
// The word below the caller's frame stands for that: no two open calls have the same, because a function that calls
// others saves x30 first.
//
//     blr x16                 the call goes on from here, with the place's own address in x30
//     adr x30, .
//     b                       to what tells of the call's end and returns to its caller
//     .word                   how far away its struct place is, for the FDE
//
// A place belongs to a return address and where that lies on a stack, and holds both. Whoever comes by the same place
// on the same stack finds the same place again, so a place is right for a call that is still to return, even where a
// coroutine has left it for a while. Only a place whose calls have all returned, or were left by a jump that was told
// of, is given to another one. What it held before is kept for a while: a stack that was copied may return by it once
// more. A call that never returns keeps its place. Where no place is free, a call is not heard of.
//
// A jump seems to leave all calls that lie below where it lands. Where coroutines' stacks touch each other, some of
// them are those of a coroutine that waits. So such a place is given to another call only where its own return address
// is no longer on the stack.

#ifndef FATHOM_PLACES_H
#define FATHOM_PLACES_H

#include "../host/base.h"

#define PLACE_COUNT 16384
#define PLACE_WAYS 4u  // places that a pair of addresses may have, in each of two sets of them
#define PLACE_SETS 2u
#if defined(__x86_64__)
#define PLACE_SIZE 32   // bytes of code
#define PLACE_RETURN 6  // how many of them a call returns behind
#else
#define PLACE_SIZE 16
#endif

// The assembly knows the first two fields and the size, which is that of a cache line.
struct place {
    uintptr_t target;          // where the call goes on
    uintptr_t return_address;  // where it returns to in the end
    uintptr_t stack_pointer;   // where the return address lies, or what stands for that
    uint32_t open;             // calls that are to return here, or never will, and PLACE_LEFT: a jump seems to have
                               // left them; PLACE_TAKEN: it is being given away
    // Of a call of a function with hooks, which tell of the call: how many of its enter hooks have no exit hook yet, or
    // PLACE_ENDED where the last exit hook has come. 0 in place of the function: no hooks tell of the call.
    uint32_t hooks;
    uintptr_t function;
} __attribute__((aligned(64)));
#define PLACE_TAKEN UINT32_MAX
#define PLACE_LEFT (1u << 31)
#define PLACE_ENDED UINT32_MAX
_Static_assert(sizeof(struct place) == 64 && offsetof(struct place, return_address) == 8, "the assembly knows them");

extern struct place places[PLACE_COUNT] __attribute__((visibility("hidden")));

// All are async-signal-safe.
// The place of a return address at `sp`, with one more call open; NULL where none is free. `code` is where that of the
// places is.
struct place *place_take(uintptr_t return_address, uintptr_t sp, uintptr_t code);
// A jump seems to have left the call that was to return there, if it came by a place.
void place_abandon(uintptr_t return_address, uintptr_t sp);
// A call has returned to a place, from `sp` on the stack, or will not because another takes its place there. Returns
// where it goes on in the end. The place need not be its own any more (a stack that was copied).
uintptr_t place_give(struct place *place, uintptr_t sp);
// Whether it still is.
INTERNAL int place_is_of(const struct place *place, uintptr_t sp) { return place->stack_pointer == sp; }
// The process is known. It may have one thread.
void places_begin(void);
// There is another thread, which the C library may not know of. It is that from now on, in the process's children, too.
void places_share(void);

// ---- the fast paths of taking and giving a place

INTERNAL uint64_t place_mix(uint64_t one, uint64_t other) {
    return (one ^ (other << 32 | other >> 32)) * 0x9e3779b97f4a7c15ull >> 48;
}
INTERNAL struct place *place_ways(uintptr_t return_address, uintptr_t sp, uint32_t set) {
    uint32_t first = (uint32_t)place_mix(sp >> 3, return_address) % (PLACE_COUNT / PLACE_WAYS);
    return &places[(first + set) % (PLACE_COUNT / PLACE_WAYS) * PLACE_WAYS];
}
INTERNAL int place_is_its(const struct place *place, uintptr_t return_address, uintptr_t sp) {
    return __atomic_load_n(&place->stack_pointer, __ATOMIC_RELAXED) == sp &&
           __atomic_load_n(&place->return_address, __ATOMIC_RELAXED) == return_address;
}
// Not 0 as long as no other thread can take a place.
extern const char *places_alone __attribute__((visibility("hidden")));
// Takes a place away from whoever else tries to at the same time: other threads, and handlers of signals.
INTERNAL int place_claim(struct place *place, uint32_t open) {
    return __atomic_compare_exchange_n(&place->open, &open, PLACE_TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)
// The same while there is one thread. A handler of a signal runs before or behind an instruction, so a call that it has
// given the place to counts on, and 0 is returned. That no store has to be waited for saves half of what a place costs.
INTERNAL int place_claim_alone(struct place *place, uintptr_t return_address, uintptr_t sp) {
    if (UNLIKELY(__atomic_load_n(&place->open, __ATOMIC_RELAXED))) return 0;
    __asm__ __volatile__("incl %0" : "+m"(place->open) : : "memory");
    if (LIKELY(place_is_its(place, return_address, sp))) return 1;
    __asm__ __volatile__("decl %0" : "+m"(place->open) : : "memory");
    return 0;
}
#endif

// As place_take, but only the place that another call of that address had there before. NULL: place_take has to look.
INTERNAL struct place *place_take_again(uintptr_t return_address, uintptr_t sp) {
    struct place *place = place_ways(return_address, sp, 0), *end = place + PLACE_WAYS;
    while (!place_is_its(place, return_address, sp))
        if (UNLIKELY(++place == end)) return NULL;
#if defined(__x86_64__)
    if (LIKELY(*places_alone)) return place_claim_alone(place, return_address, sp) ? place : NULL;
#endif
    if (UNLIKELY(!place_claim(place, 0))) return NULL;
    // Somebody may have had it in between.
    int is_its = place_is_its(place, return_address, sp);
    __atomic_store_n(&place->open, (uint32_t)is_its, __ATOMIC_RELEASE);
    return LIKELY(is_its) ? place : NULL;
}

// Release: whoever takes the place next finds that nobody needs it.
INTERNAL void place_close(struct place *place) {
    // Relaxed: only whoever runs on that stack changes it while it is not 0.
    uint32_t open = __atomic_load_n(&place->open, __ATOMIC_RELAXED);
    if (open && open != PLACE_TAKEN) __atomic_store_n(&place->open, (open & ~PLACE_LEFT) - 1, __ATOMIC_RELEASE);
}

#endif
