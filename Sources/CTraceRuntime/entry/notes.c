// What no hook reports: jumps, exceptions that land, coroutines that take turns, and libraries that are loaded and
// unloaded. The functions that the runtime puts in place of the libraries' own report these here.

#include "../filter/filter.h"
#include "../follow/aside.h"
#include "../follow/follow.h"
#include "../follow/pause.h"
#include "../follow/side.h"
#include "../follow/stack.h"
#include "../host/loader.h"
#include "../host/runtime.h"
#include "../record/chunk.h"
#include "../record/paths.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "CTraceRuntime.h"
#include "busy.h"

FATHOM_WITHOUT_HOOKS

static int on_signal_stack(uintptr_t sp) {
    uintptr_t low, high;
    return stack_of_signals(sp, &low, &high);
}

// Whether a jump to a frame at `sp` means that the hook which a handler interrupted will never go on.
static int leaves_hook(const struct thread *t, uintptr_t sp) {
    int lands_on_signal_stack = on_signal_stack(sp), hook_is_there = on_signal_stack(t->hook_sp);
    return lands_on_signal_stack == hook_is_there ? sp >= t->hook_sp : hook_is_there;
}

void fathom_note_landing(uintptr_t sp) {
    loader_landed(sp);
    struct thread *t = begin_note();
    if (t) {
        follow_landing(t, sp, now_ticks());
        end_note(t);
        return;
    }
    t = &current;
    if (t->state == THREAD_INTERRUPTED && !t->idle && leaves_hook(t, sp)) t->idle = IDLE;
    if (t->state != THREAD_ATTACHED || control_mode() == MODE_UNKNOWN || control_mode() == MODE_OFF) return;
    if (t->idle || !leaves_hook(t, sp)) {
        struct event landing = {.stack_pointer = sp, .hook = HOOK_LANDING};
        side_append(t, &landing);
    } else {
        side_abandon(t);
        fathom_note_landing(sp);
    }
}

void fathom_note_context(const void *pointer) {
    struct thread *t = begin_note();
    if (!t) return;
    const ucontext_t *context = pointer;
    uintptr_t sp = (uintptr_t)*CONTEXT_SP(context);
    // These are the bounds that makecontext was given. A context that getcontext made has no bounds.
    uintptr_t low = (uintptr_t)context->uc_stack.ss_sp, size = context->uc_stack.ss_size, high = low + size;
    struct lane *lane = NULL;
    // A function with a sled has told where its frame begins. Where a coroutine's stack lies in that frame, the frame
    // may reach far below what is known of the stack.
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!lies_on(here, t->low, running_lane(t)->high)) lane_settle(t, here);
    if (size && sp >= low && sp <= high) {
        for (uint32_t i = 1; i < t->lane_count && !lane; i++)
            if (t->lanes[i].exact && t->lanes[i].low == low && t->lanes[i].high == high) lane = &t->lanes[i];
        if (!lane) {
            for (uint32_t i = t->lane_count; i-- > 1;) {
                struct lane *other = &t->lanes[i];
                if (other->exact && other->low < high && low < other->high && other != running_lane(t))
                    lane_close(t, other);  // its memory was freed and is another stack now
            }
            lane = lane_add(t, low, high);
            if (lane) lane->exact = 1;
        }
    } else {
        int is_signals;
        lane = lane_find(t, sp, &is_signals);
    }
    if (lane) {
        lane_run(t, lane);
        // A context that begins stands at a function's first instruction, as the stack pointer shows (System V ABI): at
        // the place of its return address. A call with a sled that has its own there is one of an earlier coroutine.
        ending_by_landing(t, sp % 16 == sizeof sp ? sp + sizeof sp : sp, now_ticks());
        if (lane->exact && open_calls(t) == 0) {
            lane->link = context->uc_link;
            stack_begin_coroutine(t, lane);
        }
    }
    end_note(t);
}

void fathom_note_modules(void) {
    if (runtime.state != STATE_READY || control_mode() == MODE_UNKNOWN || confine_unnoted()) return;
    modules_scan(LOADER_PATIENCE);
    if (runtime.options.keeps) paths_forget_unloaded();
}

void fathom_note_loading(void) {
    struct thread *t = &current;
    runtime.modules_stale = 1;
    loading_begin(t, (uintptr_t)__builtin_frame_address(0));
    int is_recording = runtime.state == STATE_READY && control_mode() != MODE_UNKNOWN && t->state == THREAD_ATTACHED;
    chunk_look_at_modules(t, is_recording);
}

// Memory that is allocated and freed, as the functions that stand before those of the C library report it.
//
// What frees a block is told before it is freed, and what allocates one after it was allocated. So of all threads'
// moments at which something happened to an address, the last one tells whose it is.

uint64_t fathom_moment(void) { return now_ticks(); }

void fathom_note_block(uint32_t record, const void *address, size_t size, uint64_t ticks) {
    struct fathom_block block = {(uint64_t)(uintptr_t)address, size};
    struct event event = {.stack_pointer = (uintptr_t)__builtin_frame_address(0),
                          .told = told_of(record, &block, sizeof block, TOLD_OF_MEMORY),
                          .hook = HOOK_TOLD};
    struct thread *t = begin_note();
    if (!t) {
        // The thread has made no call yet, ends, or is busy and was interrupted by a handler.
        if (control_mode() != MODE_PAUSED) aside_event(&event);
        return;
    }
    side_follow(t, &event, ticks ? ticks : now_ticks());
    end_note(t);
}

FATHOM_WITHOUT_HOOKS_END
