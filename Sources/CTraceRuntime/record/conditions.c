// Which open calls fulfil conditions on their arguments.
//
// A call is known by its thread and the time when it began. Both are hashed, and the call's word is stored in that
// place, over one that is there. So nothing has to be taken away of calls that end in other ways, nothing is searched
// for, and of a thousand open calls that fulfil conditions, some may be forgotten, which then lead to no save.

#include "conditions.h"

#include "../file/requests.h"

FATHOM_WITHOUT_HOOKS

#define PLACE_BITS 10
#define TIME_BITS 48
static uint64_t places[1u << PLACE_BITS];  // the low bits of the time, and behind them the conditions

_Static_assert(TIME_BITS + FATHOM_CONDITION_LIMIT <= 64, "a word holds both");

static uint64_t *place_of(const struct thread *t, const struct frame *call) {
    uint64_t key = call->enter ^ (uint64_t)t->serial << TIME_BITS;
    return &places[key * 0x9e3779b97f4a7c15ull >> (64 - PLACE_BITS)];
}

static uint64_t time_of(const struct frame *call) { return call->enter << (64 - TIME_BITS); }

void conditions_note(const struct thread *t, const struct frame *call, uint32_t conditions) {
    if (!conditions) return;
    // Relaxed: the thread itself looks there.
    __atomic_store_n(place_of(t, call), time_of(call) | conditions, __ATOMIC_RELAXED);
}

void conditions_tell(const struct thread *t, const struct frame *call, uint64_t now) {
    uint64_t *place = place_of(t, call), word = __atomic_load_n(place, __ATOMIC_RELAXED);
    uint64_t rest = word ^ time_of(call);
    uint32_t conditions = (uint32_t)rest;
    if (!rest || rest >> FATHOM_CONDITION_LIMIT || call->stack_pointer & FRAME_INHERITED) return;
    __atomic_store_n(place, 0, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < FATHOM_CONDITION_LIMIT; i++)
        if (now - call->enter < named_functions.condition_ticks[i]) conditions &= ~(1u << i);
    struct fathom_long_call ended = {call->function, now, now - call->enter};
    if (conditions) requests_tell(t->serial, &ended, conditions);
}

FATHOM_WITHOUT_HOOKS_END
