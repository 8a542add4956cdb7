// Opens the calls that a thread was in when somebody attached to its process. Only attaching needs this.

#include "inherited.h"

#include "../host/runtime.h"
#include "thread.h"

FATHOM_WITHOUT_HOOKS

static uint64_t *inherited;
static size_t inherited_size;

#define WORDS 3u  // of a call
// In the number of a thread's calls: it was in a signal's handler, or about to run one.
#define IN_HANDLER ((uint64_t)1 << 63)
// A stack is no larger than this. Calls that lie farther away are another stack's.
#define STACK_LIMIT ((uintptr_t)1 << 30)

static uint64_t count_of(const uint64_t *words) { return words[1] & ~IN_HANDLER; }

// The words of a thread, from its id on. NULL when there are none.
static uint64_t *find(uint32_t id) {
    uint64_t *words = inherited;
    if (!words) return NULL;
    uint64_t left = *words++;
    for (; left > 0; left--, words += 2 + count_of(words) * WORDS)
        if (words[0] == id) return words;
    return NULL;
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

uintptr_t inherited_stack(uint32_t id, uintptr_t sp) {
    const uint64_t *words = find(id);
    if (!words || !(words[1] & IN_HANDLER) || !count_of(words)) return sp;
    const uint64_t *innermost = words + 2 + (count_of(words) - 1) * WORDS;
    uintptr_t place = innermost[2] & ~FRAME_FLAGS;
    if (place >= sp && place - sp <= STACK_LIMIT) return sp;
    return is_open(innermost) ? place : sp;
}

uint32_t inherited_open(struct thread *t, uintptr_t sp) {
    uint64_t *words = find(t->id);
    if (!words) return 0;
    words[0] = 0;
    uint64_t now = now_ticks();
    struct lane *lane = running_lane(t);
    uint32_t opened = 0;
    for (uint64_t *call = words + 2, *end = call + count_of(words) * WORDS; call < end; call += WORDS) {
        uintptr_t place = call[2] & ~FRAME_FLAGS;
        if (place < sp || place - sp > STACK_LIMIT || !is_open(call)) continue;
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
