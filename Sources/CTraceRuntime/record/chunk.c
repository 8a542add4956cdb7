// One thread's chunks: how a slot is taken, a header and open call path are written, and a chunk is finished.

#include "chunk.h"
#include "away.h"

#include "../follow/side.h"
#include "../host/runtime.h"
#include "../session/await.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "../session/session.h"
#include "../session/slots.h"
#include "budget.h"

#include <sys/prctl.h>

FATHOM_WITHOUT_HOOKS

// A thread's first chunk is small, so that threads that record little cost little.
#define FIRST_SIZE (16ul * 1024)
// The longest that a change of chunks takes when it waited for nothing, as parts of a second. Longer changes are looked
// into.
#define PROMPT 100000u  // 10 microseconds
// For stretches up to this long, the rate at which ticks pass is known well enough to compute their length. Longer ones
// are better measured.
#define COMPUTED 1000u  // a millisecond

uint32_t recorded_calls(struct thread *t) {
    uint32_t open = open_calls(t), hidden = 0;
    if (t->options.slow)
        for (struct frame *f = t->top; f->function; f--) hidden += (f->stack_pointer & FRAME_HIDDEN) != 0;
    return open - hidden;
}

static size_t first_size(void) {
    size_t size = FIRST_SIZE > PAGE_SIZE ? FIRST_SIZE : PAGE_SIZE;
    return size < runtime.slot_size ? size : runtime.slot_size;
}

static void write_path(struct thread *t, struct fathom_chunk *chunk) {
    struct writer *w = writer_of(t);
    struct frame *first = running_lane(t)->frames + 1;
    uint32_t depth = recorded_calls(t), count = depth < PATH_LIMIT ? depth : PATH_LIMIT, inherited = 0;
    for (struct frame *f = first; f <= t->top && f->stack_pointer & FRAME_INHERITED; f++)
        inherited += !(f->stack_pointer & FRAME_HIDDEN);
    struct fathom_path_entry *entry = (struct fathom_path_entry *)(chunk + 1) + count;
    uint32_t left = count;
    for (struct frame *f = t->top; left > 0; f--) {
        if (f->stack_pointer & FRAME_HIDDEN) continue;
        left--;
        if (w->lost && f->enter > w->finished && !(f->stack_pointer & FRAME_INHERITED)) {
            w->lost--;
            chunk->path_calls++;
        }
        *--entry = (struct fathom_path_entry){f->function, f->call_site, f->enter};
    }
    chunk->depth = depth;
    chunk->path_count = count;
    chunk->inherited = inherited;
    chunk->used = count * (uint32_t)sizeof(struct fathom_path_entry);
}

void chunk_write_name(const struct thread *t, struct fathom_chunk *chunk) {
    struct writer *w = writer_of(t);
    if (w->name[0]) __builtin_memcpy(chunk->name, w->name, sizeof chunk->name);
    else if (t == &current) system_own_name(chunk->name);
    else system_thread_name(t->id, chunk->name);
}

void chunk_name(struct thread *t, const char name[16]) {
    struct writer *w = writer_of(t);
    __builtin_memcpy(w->name, name, sizeof w->name);
    if (w->chunk) __builtin_memcpy(w->chunk->name, name, sizeof w->name);
}

void chunk_publish(struct thread *t) {
    struct writer *w = writer_of(t);
    // Release, here and in the hooks: live readers find the records below it.
    if (w->chunk) fathom_store32(&w->chunk->used, (uint32_t)(w->cursor - (char *)(w->chunk + 1)));
    w->pending = t->top + 1;
}

// The session's own count has the call until a chunk can tell of it. Relaxed: it is a count, and says nothing about
// anything else.
void chunk_lose_call(struct thread *t) {
    struct writer *w = writer_of(t);
    w->lost++;
    __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED);
}

// dlopen does not tell when it is through, and hooks may come from inside it. So the modules are looked at again and
// again, each time after twice as many records.
static void look_at_modules(struct thread *t) {
    struct writer *w = writer_of(t);
    modules_scan(LOADER_NOW);
    runtime.modules_stale = 1;  // whatever the last of these looks sees, the process's end looks once more
    char *next = w->cursor + w->look;
    w->look = w->look < LAST_LOOK ? w->look * 2 : 0;
    if (!w->look || next >= w->limit) return;
    writer_stop_at(w, next);
}

// The chunk that was finished a moment ago, if the runtime has done nothing else since.
struct previous {
    int is_known;
    uint64_t processor_ns;  // the thread's processor time before that
    char name[16];
};

// What a change of chunks has taken of the thread until now, in ticks. It is at most the processor time that passed:
// the thread may also have waited for a processor, but it would have waited anyway.
static uint64_t switch_ticks(const struct thread *t, uint64_t now, uint64_t processor_ns) {
    struct writer *w = writer_of(t);
    uint64_t elapsed = now - w->finished;
    if (elapsed < runtime.ticks_per_second / PROMPT) return elapsed;
    unsigned __int128 ticks = (unsigned __int128)(system_processor_ns() - processor_ns) * runtime.ticks_per_second;
    ticks /= 1000000000u;
    return ticks < elapsed ? (uint64_t)ticks : elapsed;
}

static int chunk_begin(struct thread *t, const struct previous *previous, int may_look) {
    struct writer *w = writer_of(t);
    uint32_t slot;
    size_t size;
    struct fathom_chunk *chunk = session_take_slot(first_size(), w->sequence > 0, &slot, &size);
    if (!chunk) return 0;
    chunk_hide(chunk);
    *chunk = (struct fathom_chunk){
        .kind = FATHOM_CHUNK_RECORDS,
        .flags = w->gap == GAP_LOST ? FATHOM_FLAG_GAP
                 : w->gap           ? FATHOM_FLAG_PATH
                                    : 0,
        .process = runtime.process,
        .thread = t->serial,
        .pid = runtime.pid,
        .tid = t->id,
        .sequence = w->sequence++,
        .orphan_exits = w->orphans,
        .lane = running_lane(t)->id,
        .function_base = (uint32_t)w->function_base,
        .capacity = runtime.slot_size - (uint32_t)sizeof *chunk,
    };
    // Relaxed: see chunk_lose_call.
    if (w->lost) __atomic_fetch_sub(&runtime.buffers->unplaced_calls, w->lost, __ATOMIC_RELAXED);
    write_path(t, chunk);
    chunk->lost_calls = w->lost;
    if (previous->is_known) __builtin_memcpy(chunk->name, previous->name, sizeof chunk->name);
    else chunk_write_name(t, chunk);
    uint64_t before = now_ticks();
    chunk->begin_ns = system_monotonic_ns();
    uint64_t after = now_ticks();
    chunk->begin_ticks = before + (after - before) / 2;
    chunk->switch_ticks = previous->is_known ? switch_ticks(t, chunk->begin_ticks, previous->processor_ns) : 0;
    fathom_chunk_looked(chunk, w->away.ticks, w->away.processor_ns);
    w->began_processor_ns = runtime.head.tells & FATHOM_TELLS_RUNNING ? system_processor_ns() : 0;
    w->slot = slot;
    w->chunk = chunk;
    w->cursor = (char *)(chunk + 1) + chunk->used;
    w->limit = (char *)chunk + size - RECORD_ROOM;
    t->last = chunk->begin_ticks;
    w->calls = w->lost = w->orphans = w->retry = w->gap = 0;
    w->pending = t->top + 1;
    running_lane(t)->is_stale = 0;
    fathom_store32(&chunk->magic, FATHOM_CHUNK_MAGIC);  // release: live readers find the header behind it
    if (w->look && may_look) look_at_modules(t);
    return 1;
}

// The moment `now`, in ns.
static uint64_t nanoseconds(const struct fathom_chunk *chunk, uint64_t now) {
    uint64_t elapsed = now - chunk->begin_ticks, second = runtime.ticks_per_second;
    return elapsed < second / COMPUTED ? chunk->begin_ns + elapsed * 1000000000u / second : system_monotonic_ns();
}

// Signals are blocked.
static void finish(struct thread *t, uint64_t now) {
    struct writer *w = writer_of(t);
    struct fathom_chunk *chunk = w->chunk;
    if (t->options.slow) chunk_publish(t);
    w->chunk = NULL;
    w->cursor = w->limit = w->wanted_limit = NULL;
    if (now < t->last) now = t->last;
    w->finished = now;
    chunk->calls = w->calls;
    chunk->end_ns = nanoseconds(chunk, now);
    // Whoever attaches finishes the chunks of other threads, and those of confined ones.
    if (w->began_processor_ns && t == &current && !confine_unnoted())
        chunk->ran = fathom_ran(system_processor_ns() - w->began_processor_ns, chunk->end_ns - chunk->begin_ns);
    chunk->end_ticks = now;
    chunk_write_name(t, chunk);
}

void chunk_finish(struct thread *t, uint64_t now) {
    struct writer *w = writer_of(t);
    uint64_t signals = system_block_signals();
    // A handler may have forked since the caller looked. Then the chunk is the parent's.
    if (w->chunk && t->state != THREAD_INTERRUPTED) {
        finish(t, now);
        session_give_slot(w->slot);
    }
    system_restore_signals(signals);
}

// With `may_look`, there is stack enough to look at modules and sleds.
static int make_room(struct thread *t, int may_look) {
    struct writer *w = writer_of(t);
    struct previous previous = {.is_known = 0};
    if (writer_is_to_stop(w)) {
        w->limit = w->wanted_limit;
        w->wanted_limit = NULL;
        if (may_look) look_at_modules(t);
        if (w->cursor < w->limit) return 1;
    }
    if (w->chunk) {
        struct fathom_chunk *chunk = w->chunk;
        previous.is_known = 1;
        previous.processor_ns = system_processor_ns();
        finish(t, now_ticks());
        if (UNLIKELY(may_look && runtime.head.budget && runtime.can_close)) budget_look(chunk, previous.processor_ns);
        __builtin_memcpy(previous.name, chunk->name, sizeof previous.name);
        session_give_slot(w->slot);
        metadata_look_at_title(w->finished);
    }
    if (chunk_begin(t, &previous, may_look)) return 1;
    w->gap = GAP_LOST;
    w->retry = RETRY_CALLS;
    return 0;
}

void chunk_look_at_modules(struct thread *t, int is_recording) {
    struct writer *w = writer_of(t);
    w->look = FIRST_LOOK;
    if (is_recording && w->limit) writer_stop_at(w, AT_NEXT_RECORD);
}

#ifdef FATHOM_VALID
int chunk_is_valid(const struct thread *t) {
    struct writer *w = writer_of(t);
    const struct fathom_chunk *chunk = w->chunk;
    if (!chunk) return !w->cursor && !w->limit && !w->wanted_limit;
    const char *start = (const char *)(chunk + 1), *end = (const char *)chunk + runtime.slot_size;
    return chunk->magic == FATHOM_CHUNK_MAGIC && chunk->thread == t->serial && chunk->process == runtime.process &&
           start <= w->cursor && w->cursor <= end && chunk->used <= (uint32_t)(w->cursor - start) &&
           (!w->limit || (start <= w->limit && w->limit <= end - RECORD_ROOM)) && t->last >= chunk->begin_ticks;
}
#endif

void chunk_forget(struct thread *t) {
    struct writer *w = writer_of(t);
    w->look = 0;
    if (t->state == THREAD_INTERRUPTED) {
        if (w->chunk) windows_shadow_slot(w->slot);
        w->limit = NULL;
    } else {
        w->chunk = NULL;
        w->cursor = w->limit = NULL;
    }
}

int chunk_make_room(struct thread *t) {
    struct writer *w = writer_of(t);
    if (t->paused) return 0;
    if (w->retry > 1) {
        w->retry--;
        return 0;
    }
    if (confine_unnoted()) return 0;
    if (w->chunk && w->sequence > 1 && !writer_is_to_stop(w)) await_slot(&t->side_count, SIDE_LIMIT / 4);
    int wants_look = w->look || writer_is_to_stop(w) || (runtime.head.budget && runtime.can_close);
    int may_look = wants_look && loader_has_stack();
    uint64_t signals = system_block_signals_within(STACK_ROOM_SMALL);
    // If a signal handler interrupted a hook and forked, perhaps a moment ago, the hook goes on in the child with the
    // parent's chunk. The child's own chunk begins when the thread attaches.
    int made = t->state != THREAD_INTERRUPTED && make_room(t, may_look);
    system_restore_signals(signals);
    return made;
}

FATHOM_WITHOUT_HOOKS_END
