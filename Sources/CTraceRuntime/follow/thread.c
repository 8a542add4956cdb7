// A thread's life: it attaches at its first hook and detaches after its last TLS destructor.

#include "thread.h"

#include "../host/runtime.h"
#include "../session/metadata.h"
#include "../session/steering.h"
#include "follow.h"
#include "inherited.h"
#include "mode.h"
#include "pause.h"
#include "places.h"
#include "roster.h"
#include "side.h"
#include "stack.h"

#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>

FATHOM_WITHOUT_HOOKS

__thread struct thread current;

static pthread_key_t key;
static int key_made;

// glibc calls TLS destructors in rounds until no key holds a value. Ours asks for another round each time until the
// last one, so that the calls of other destructors are still recorded.
static void thread_ending(void *value) {
    struct thread *t = &current;
    if (++t->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(key, value);
        return;
    }
    if (t->state == THREAD_ATTACHED && control_mode() != MODE_OFF && !confine_unnoted()) thread_detach(t);
}

static long ask_for_end(void *thread) { return pthread_setspecific(key, thread); }

// Asking allocates nothing.
static int tells_ends(void) { return key_made && key < KEYS_WITH_ROOM; }

void thread_key_create(void) {
    if (!key_made) key_made = pthread_key_create(&key, thread_ending) == 0;
}

// First guess of the thread's own stack. lane_settle widens it when it proves too small. Returns whether the stack's
// top is known.
static int guess_stack(struct thread *t, uintptr_t sp, uintptr_t *low, uintptr_t *high) {
    uintptr_t tls = (uintptr_t)__builtin_thread_pointer();
    if (t->id == runtime.pid && runtime.stack_top >= sp) {
        uintptr_t limit = system_stack_limit();
        uintptr_t most = 64ul << 20;  // whatever the limit, the kernel keeps 128 MB below the stack free
        *high = runtime.stack_top;
        *low = *high - (limit && limit < most ? limit : most);
        return 1;
    }
    if (sp < tls && tls - sp < 1ul << 30) {
        *high = tls;  // glibc keeps a thread's TLS on top of its stack
        *low = sp - 16384;
        return 1;
    }
    *high = sp + 4096;
    *low = sp - 16384;
    return 0;
}

static int allocate(struct thread *t, uintptr_t sp) {
    char *memory = system_allocate(MEMORY_SIZE);
    if (!memory) return 0;
    t->memory = memory;
    t->lanes = (struct lane *)memory;
    t->lane_capacity = FIRST_LANES;
    t->lane_count = 1;
    t->lane = 0;
    t->next_lane = 1;
    t->side = (struct side_event *)(t->lanes + FIRST_LANES);
    struct frame *frames = (struct frame *)(t->side + SIDE_LIMIT);
    uintptr_t low, high;
    int has_top = guess_stack(t, sp, &low, &high);
    if (t->options.slow) {
        if (!lane_init(t, &t->lanes[0], 0, low, high)) {
            system_free(memory, MEMORY_SIZE);
            t->memory = NULL;
            return 0;
        }
    } else {
        t->lanes[0] = (struct lane){.frames = frames, .top = frames, .low = low, .high = high};
        t->lanes[0].end = (struct frame *)(memory + MEMORY_SIZE);
        frames[0].stack_pointer = high;
    }
    t->lanes[0].has_top = (uint32_t)has_top;
    return 1;
}

void thread_fork(struct thread *t) {
    t->forked = 1;
    t->untold = 0;
    if ((t->state == THREAD_ATTACHED || t->state == THREAD_INTERRUPTED) && !t->idle) {
        // A handler has interrupted a hook and forked, perhaps in such a child already. The hook goes on in the child,
        // too, and writes where the parent's hook writes.
        t->state = THREAD_INTERRUPTED;
        t->side_count = 0;  // the parent follows those
    } else {
        t->idle = 0;
        t->state = THREAD_UNATTACHED;
    }
    any_mode(t)->fork(t);
}

// Its pthread_t joins a thread with who made it, and a fork's child with the thread that forked.
static void tell_of_itself(struct thread *t, uint32_t kind, uint64_t now) {
    if (!(runtime.head.tells & FATHOM_TELLS_WAITS) || !t->mode->tell) return;
    struct fathom_wait wait = {(uint16_t)kind, -1, FATHOM_WAIT_RAN_UNKNOWN, (uint64_t)pthread_self()};
    struct told told = told_of(FATHOM_WAKE, &wait, sizeof wait, 0);
    t->mode->tell(t, &told, now);
}

static void give_memory_back(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) frames_free(lane);
    if ((void *)t->lanes != t->memory) system_free(t->lanes, t->lane_capacity * sizeof(struct lane));
    system_free(t->memory, MEMORY_SIZE);
    t->memory = NULL;
    t->lanes = NULL;
}

static int attach(struct thread *t, uintptr_t sp) {
    t->state = THREAD_ATTACHING;
    t->id = system_thread_id();
    if (t->id != runtime.pid) places_share();
    int inherits = t->forked && t->memory;
    enum begins how = t->forked ? BEGINS_IN_CHILD : t->serial ? BEGINS_AGAIN : BEGINS_THREAD;
    // A handler's first hook may be the thread's first.
    uintptr_t stack = inherits ? sp : inherited_stack(t->id, sp);
    if (!inherits) pause_begin(t);
    if (inherits) {
        // The open calls are the parent's. The child's time in them begins now.
        uint64_t now = now_ticks();
        for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
            for (struct frame *f = lane->frames + 1; f <= top_of(t, lane); f++) {
                f->enter = now;
                f->stack_pointer |= FRAME_INHERITED;
            }
        }
    } else if (!allocate(t, stack)) {
        t->state = THREAD_UNATTACHED;
        t->retry = RETRY_CALLS;
        return 0;
    }
    uint32_t serial = t->serial;
    // The addition only has to give each thread a number of its own.
    if (how != BEGINS_AGAIN) t->serial = fathom_add32(&runtime.thread_count, 1) + 1;
    if (!tells_ends() && !untold_join(t)) {
        if (!inherits) give_memory_back(t);
        t->serial = serial;
        t->state = THREAD_UNATTACHED;
        t->retry = RETRY_CALLS;
        return 0;
    }
    t->forked = 0;
    t->retry = t->overflow = 0;
    if (!inherits) t->side_count = 0;
    t->side_lost = 0;
    struct lane *lane = running_lane(t);
    if (!inherits) t->top = lane->top;
    t->end = lane->end;
    t->low = lane->low;
    if (!inherits) t->closings = fathom_load32(&runtime.sled_closings);
    t->mode->begin(t, how);
    if (!inherits && inherited_open(t, sp)) t->mode->begin(t, BEGINS_RUNNING);
    if (how != BEGINS_AGAIN) tell_of_itself(t, FATHOM_WAIT_BEGINNING, now_ticks());
    steering_tell_thread(&t->stamp, fathom_load32(&runtime.stamp), 1);
    roster_add(t);
    int late = t->exit_rounds >= PTHREAD_DESTRUCTOR_ITERATIONS;
    if (tells_ends() && !late) foreign_call(ask_for_end, t);
    frames_settle(t);
    t->idle = late ? 0 : IDLE;
    BARRIER();
    t->state = late ? THREAD_LATE : THREAD_ATTACHED;
    return 1;
}

// Whether there is stack for what is done while signals are blocked. A handler's may be too small, and the thread is
// attached later then. Any other one grows.
static int has_room(void) {
    size_t room = vectors_matter ? STACK_ROOM_SLEDS : STACK_ROOM;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low, high;
    if (stack_of_signals(here, &low, &high)) return here - low >= room + STACK_ROOM_SMALL;
    system_touch_stack(room);
    return 1;
}

int thread_attach(struct thread *t, uintptr_t sp) {
    if (t->retry && --t->retry) return 0;  // there was no memory at the last attempt
    if (confine_unnoted() || !has_room()) return 0;
    uint64_t signals = system_block_signals();
    // The hook of a handler may have attached it first.
    int attached = t->state == THREAD_ATTACHED || attach(t, sp);
    system_restore_signals(signals);
    return attached;
}

void thread_detach(struct thread *t) {
    uint64_t signals = system_block_signals();
    t->idle = 0;
    BARRIER();
    pause_settle(t, NULL);
    thread_expect_valid(t);
    uint64_t now = now_ticks();
    tell_of_itself(t, FATHOM_WAIT_THREAD, now);
    for (uint32_t i = 0; i < t->lane_count; i++) {
        struct lane *lane = &t->lanes[i];
        if (top_of(t, lane) == lane->frames) continue;
        lane_run(t, lane);
        // Its own stack is gone. Another thread may go on with a coroutine.
        for (struct frame *f = t->top; i == 0 && f > lane->frames; f--) place_abandon(f->call_site, frame_sp(f));
        ending_unwind(t, open_calls(t), now);
    }
    thread_expect_valid(t);
    t->mode->end(t, ENDS_THREAD, now);
    steering_tell_thread(&t->stamp, 0, -1);
    roster_remove(t);
    t->state = THREAD_UNATTACHED;
    t->side_count = 0;
    BARRIER();
    untold_leave(t);
    give_memory_back(t);
    system_restore_signals(signals);
}

struct thread *thread_at(uintptr_t thread_pointer) {
    uintptr_t offset = (uintptr_t)&current - (uintptr_t)__builtin_thread_pointer();
    return (struct thread *)(thread_pointer + offset);
}

int thread_is_inside(const struct thread *t) {
    if (t->state == THREAD_ATTACHING) return 1;
    return t->state != THREAD_UNATTACHED && !is_free(t);
}

void thread_leave(struct thread *t) {
    roster_remove(t);
    if (t->state == THREAD_ATTACHED) {
        uint64_t now = now_ticks();
        if (!t->paused) t->mode->end(t, ENDS_STOPPED, now);
        mode_for(t, 0)->end(t, ENDS_DETACHED, now);
        give_memory_back(t);
    }
    *t = (struct thread){0};
}

FATHOM_WITHOUT_HOOKS_END
