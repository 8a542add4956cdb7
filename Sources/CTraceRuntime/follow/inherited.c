// Opens the calls that a thread was in when somebody attached to its process. Only attaching needs this.

#include "inherited.h"

#include "../host/runtime.h"
#include "thread.h"

#include <signal.h>

FATHOM_WITHOUT_HOOKS

static uint64_t *inherited;
static size_t inherited_size;

#define WORDS 3u  // of a call
// A stack is no larger than this. Calls that lie farther away are another stack's.
#define STACK_LIMIT ((uintptr_t)1 << 30)

// The words of a thread, from its id on. NULL when there are none.
static uint64_t *find(uint32_t id) {
    uint64_t *words = inherited;
    if (!words) return NULL;
    uint64_t left = *words++;
    for (; left > 0; left--, words += 2 + words[1] * WORDS)
        if (words[0] == id) return words;
    return NULL;
}

uint64_t *inherited_addresses(size_t *threads, size_t *count) {
    uint64_t *words = inherited;
    *threads = *count = 0;
    if (!words) return NULL;
    uint64_t left = *words++;
    for (; left > 0; left--) words += 2 + words[1] * WORDS;
    *threads = (size_t)words[0];
    *count = (size_t)(words[0] + words[1]);
    return words + 2;
}

int inherited_waits(void) { return inherited && find(system_thread_id()); }

uint64_t *inherited_room(size_t size) {
    inherited_forget();
    inherited = system_allocate(size);
    inherited_size = size;
    return inherited;
}

void inherited_forget(void) {
    if (inherited) system_free(inherited, inherited_size);
    inherited = NULL;
}

// Whether a call's frame is still there: the thread may have gone on since its calls were looked at.
static int is_open(const uint64_t *call) {
    const uintptr_t *returns = (const uintptr_t *)((call[2] & ~FRAME_FLAGS) + sizeof(uintptr_t));
    return system_is_readable(returns) && *returns == call[1];
}

struct bounds {
    uintptr_t low, high;
};

// The stack for handlers, if the calling thread runs on it.
static struct bounds handler_stack(uintptr_t sp) {
    stack_t stack;
    if (system_signal_stack(&stack) < 0) return (struct bounds){0, 0};
    struct bounds found = {(uintptr_t)stack.ss_sp, (uintptr_t)stack.ss_sp + stack.ss_size};
    return stack.ss_flags & SS_ONSTACK && sp - found.low < stack.ss_size ? found : (struct bounds){0, 0};
}

static int lies_in(uintptr_t place, struct bounds bounds) { return place - bounds.low < bounds.high - bounds.low; }

// Whether a call that was open still is, as far as its place tells: that is not below the stack pointer. A handler that
// has interrupted it may run on a stack of its own, which lies anywhere.
static int is_above(const uint64_t *call, uintptr_t sp, struct bounds handlers) {
    uintptr_t place = call[2] & ~FRAME_FLAGS;
    int is_elsewhere = handlers.high && !lies_in(place, handlers);
    return (is_elsewhere || (place >= sp && place - sp <= STACK_LIMIT)) && is_open(call);
}

uintptr_t inherited_stack(uint32_t id, uintptr_t sp) {
    const uint64_t *words = find(id);
    struct bounds handlers = words ? handler_stack(sp) : (struct bounds){0, 0};
    uintptr_t stack = sp;
    if (!handlers.high) return sp;
    for (const uint64_t *call = words + 2, *end = call + words[1] * WORDS; call < end; call += WORDS)
        if (!lies_in(call[2], handlers) && is_open(call)) stack = call[2] & ~FRAME_FLAGS;
    return stack;
}

uint32_t inherited_open(struct thread *t, uintptr_t sp) {
    uint64_t *words = find(t->id);
    if (!words) return 0;
    words[0] = 0;
    uint64_t now = now_ticks();
    struct bounds handlers = handler_stack(sp);
    struct lane *lane = running_lane(t);
    uint32_t opened = 0;
    for (uint64_t *call = words + 2, *end = call + words[1] * WORDS; call < end; call += WORDS) {
        uintptr_t place = call[2] & ~FRAME_FLAGS;
        if (!is_above(call, sp, handlers)) continue;
        if (place > lane->high) lane->frames[0].stack_pointer = lane->high = place;
        if (t->top->function && place > frame_sp(t->top)) continue;
        if (t->top + 1 >= t->end && !frames_grow(t)) break;
        t->top[1] = (struct frame){{now}, call[0], call[1], place | FRAME_INHERITED};
        t->top++;
        opened++;
    }
    return opened;
}

FATHOM_WITHOUT_HOOKS_END
