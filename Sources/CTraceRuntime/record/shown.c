// A slot of a thread's own says where its open calls are. The thread never reads what lies there.

#include "shown.h"

#include "CTraceStack.h"

#include "../host/runtime.h"
#include "../session/metadata.h"
#include "../session/session.h"
#include "chunk.h"

FATHOM_WITHOUT_HOOKS

_Static_assert(sizeof(struct frame) == sizeof(struct fathom_open_call) &&
                   offsetof(struct frame, function) == offsetof(struct fathom_open_call, function) &&
                   offsetof(struct frame, stack_pointer) == offsetof(struct fathom_open_call, stack_pointer) &&
                   offsetof(struct frame, shown) == offsetof(struct fathom_open_call, number),
               "the recorder reads frames");

// It takes the place of what the room keeps of call paths.
struct shown {
    struct fathom_chunk *chunk;  // NULL: there is none
    struct fathom_stack *stack;
    uint64_t sequence;  // of the next chunk
    uint32_t slot;
};
_Static_assert(sizeof(struct shown) <= PATHS_SIZE, "the thread has room for it");

static struct shown *shown_of(struct thread *t) { return (struct shown *)t->paths; }

static void take_slot(struct thread *t) {
    struct shown *shown = shown_of(t);
    size_t size;
    if (confine_unnoted()) return;
    struct fathom_chunk *chunk = session_take_slot(PAGE_SIZE, 0, &shown->slot, &size);
    if (!chunk) return;
    chunk_hide(chunk);
    *chunk = (struct fathom_chunk){
        .kind = FATHOM_CHUNK_STACK,
        .process = runtime.process,
        .thread = t->serial,
        .pid = runtime.pid,
        .tid = t->id,
        .sequence = shown->sequence++,
        .begin_ticks = now_ticks(),
        .begin_ns = system_monotonic_ns(),
        .used = sizeof(struct fathom_stack),
        .capacity = runtime.slot_size - (uint32_t)sizeof *chunk,
    };
    chunk_write_name(t, chunk);
    shown->chunk = chunk;
    shown->stack = (struct fathom_stack *)(chunk + 1);
    *shown->stack = (struct fathom_stack){0};
    fathom_store32(&chunk->magic, FATHOM_CHUNK_MAGIC);  // release: the recorder finds the payload behind it
    metadata_look_at_title(chunk->begin_ticks);
}

// Numbers the open calls of all lanes anew. Behind them lie those that ended without being told of: while recording was
// stopped, or when a handler jumped out of a slow path. They are cleared, all of them: between them may lie places that
// have no number, because hooks that only follow calls write none. Memory that was never used is read and not written.
static void number_all(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct frame *f = lane->frames;
        lane->is_stale = 0;
        f++->shown = 0;  // stands before the outermost call
        for (; f <= top_of(t, lane); f++) f->shown = fathom_open_word(++t->call_number, f[-1].shown);
        for (; f < lane->end; f++)
            if (f->shown) f->shown = 0;
    }
}

void shown_lane(struct thread *t) {
    struct shown *shown = shown_of(t);
    if (!shown->chunk) return;
    const struct lane *lane = running_lane(t);
    uintptr_t frames = (uintptr_t)lane->frames;
    if (shown->stack->calls == frames) return;
    // Whoever reads between these stores finds nothing to read.
    fathom_store64(&shown->stack->calls, 0);
    fathom_store64(&shown->stack->limit, (uint64_t)(lane->end - lane->frames));
    fathom_store64(&shown->stack->calls, frames);
}

static void show_anew(struct thread *t) {
    struct shown *shown = shown_of(t);
    if (shown->chunk) {
        fathom_store64(&shown->stack->calls, 0);
        fathom_store64(&shown->stack->epoch, shown->stack->epoch + 1);
    }
    number_all(t);
    shown_lane(t);
}

void shown_begin(struct thread *t, enum begins how) {
    struct shown *shown = shown_of(t);
    if (how == BEGINS_THREAD || how == BEGINS_IN_CHILD) *shown = (struct shown){0};
    if (!shown->chunk) take_slot(t);
    show_anew(t);
}

void shown_end(struct thread *t, enum ends how, uint64_t now) {
    (void)now;
    struct shown *shown = shown_of(t);
    switch (how) {
    case ENDS_FOR_NOW:
    case ENDS_PROCESS: break;
    case ENDS_ABANDONED: show_anew(t); break;
    case ENDS_STOPPED:
        if (shown->chunk) fathom_store64(&shown->stack->calls, 0);
        break;
    case ENDS_THREAD:
    case ENDS_DETACHED:
        if (!shown->chunk) break;
        chunk_hide(shown->chunk);
        session_drop_slot(shown->slot);
        shown->chunk = NULL;
        break;
    }
}

void shown_fork(struct thread *t) {
    chunk_forget(t);
    shown_of(t)->chunk = NULL;  // it is the parent's
}

FATHOM_WITHOUT_HOOKS_END
