// Calls that wait, and what ends waits, as the functions that stand before those of the C library report them.
//
// A wait becomes a call when it is over: then its records are written at once, with the time at which it began. So a
// thread that waits has no call open that a cancellation, a jump or a fork would have to end.

#include <sys/stat.h>

#include "../file/confined.h"
#include "../host/runtime.h"
#include "../record/chunk.h"
#include "../record/put.h"
#include "busy.h"

FATHOM_WITHOUT_HOOKS

// Room for the records of a wait and for what a handler may record meanwhile, in bytes. A change of chunks at the
// wait's end would cut off its beginning.
#define ROOM 1024u

static int is_recording(const struct thread *t) {
    return t->state == THREAD_ATTACHED && t->idle && control_mode() != MODE_UNKNOWN && control_mode() != MODE_OFF &&
           control_mode() != MODE_PAUSED;
}

struct fathom_wait_begin fathom_wait_begins(uint32_t kind, uint64_t object) {
    struct fathom_wait_begin begin = {0, 0};
    struct thread *t = &current;
    if (!is_recording(t)) return begin;
    struct writer *w = writer_of(t);
    if (w->limit && w->cursor + ROOM >= w->limit) {
        t = begin_note();
        if (!t) return begin;
        uint64_t now = now_ticks();
        w = writer_of(t);
        if (w->chunk && !w->wanted_limit) chunk_finish(t, now);
        put_room(t, &now);
        end_note(t);
    }
    if (object) __atomic_fetch_add(fathom_waiters_of(object), 1, __ATOMIC_SEQ_CST);
    if (kind == FATHOM_WAIT_DESCRIPTOR) __atomic_fetch_add(&fathom_waiting.descriptors, 1, __ATOMIC_SEQ_CST);
    if (runtime.tells_waits == FATHOM_TELLS_WAIT_TIMES && !confine_unnoted())
        begin.processor_ns = system_processor_ns();
    begin.ticks = now_ticks();
    return begin;
}

// What stands for the file behind a descriptor, the same at both ends of a pipe; 0 when it cannot be told.
static uint64_t object_of(int descriptor) {
    struct stat status;
    if (SYSTEM(fstat, descriptor, &status, 0, 0, 0, 0)) return 0;
    return (uint64_t)status.st_ino ^ (uint64_t)status.st_dev << 40;
}

void fathom_wait_ends(struct fathom_wait_begin begin, uint32_t kind, uint64_t object, int descriptor, uint64_t least,
                      uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer) {
    if (!begin.ticks) return;
    uint64_t now = now_ticks();
    if (object) __atomic_fetch_sub(fathom_waiters_of(object), 1, __ATOMIC_RELAXED);
    if (kind == FATHOM_WAIT_DESCRIPTOR) __atomic_fetch_sub(&fathom_waiting.descriptors, 1, __ATOMIC_RELAXED);
    if ((unsigned __int128)(now - begin.ticks) * 1000000000u < (unsigned __int128)least * runtime.ticks_per_second)
        return;
    if (!is_recording(&current)) return;
    struct fathom_wait wait = {(uint16_t)kind, (int16_t)descriptor, FATHOM_WAIT_RAN_UNKNOWN, object};
    if (begin.processor_ns && !confine_unnoted()) {
        uint64_t ran = system_processor_ns() - begin.processor_ns;
        wait.ran_ns = ran < FATHOM_WAIT_RAN_UNKNOWN ? (uint32_t)ran : FATHOM_WAIT_RAN_UNKNOWN - 1;
    }
    if (kind == FATHOM_WAIT_DESCRIPTOR && !confine_unnoted()) wait.object = object_of(descriptor);
    struct thread *t = begin_note();
    if (!t) return;
    struct event enter = {stack_pointer, {{function, call_site, 0, NULL}}, HOOK_ENTER};
    struct event told = {.stack_pointer = stack_pointer, .wait = &wait, .hook = HOOK_WAIT};
    struct event exit = {stack_pointer, {{function, call_site, 0, NULL}}, HOOK_EXIT};
    side_follow(t, &enter, begin.ticks);
    side_follow(t, &told, begin.ticks);
    side_follow(t, &exit, now);
    end_note(t);
}

static void wake(uint32_t kind, uint64_t object, int descriptor) {
    struct thread *t = begin_note();
    if (!t) return;
    struct fathom_wait wait = {(uint16_t)kind, (int16_t)descriptor, FATHOM_WAIT_RAN_UNKNOWN, object};
    struct event event = {.stack_pointer = t->hook_sp, .wait = &wait, .hook = HOOK_WAKE};
    side_follow(t, &event, now_ticks());
    end_note(t);
}

void fathom_note_wake(uint32_t kind, uint64_t object) {
    if (__atomic_load_n(fathom_waiters_of(object), __ATOMIC_RELAXED) && is_recording(&current)) wake(kind, object, -1);
}

void fathom_note_wake_descriptor(int descriptor) {
    if (!__atomic_load_n(&fathom_waiting.descriptors, __ATOMIC_RELAXED) || !is_recording(&current)) return;
    if (!confine_unnoted()) wake(FATHOM_WAIT_DESCRIPTOR, object_of(descriptor), descriptor);
}

FATHOM_WITHOUT_HOOKS_END
