// One thread's chunks: how a slot is taken, a header and open call path are written, and a chunk is finished.

#include "chunk.h"

#include "../file/await.h"
#include "../file/confined.h"
#include "../file/metadata.h"
#include "../file/modules.h"
#include "../file/session.h"
#include "../host/runtime.h"

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
    struct frame *first = running_lane(t)->frames + 1;
    uint32_t depth = recorded_calls(t), count = depth < PATH_LIMIT ? depth : PATH_LIMIT, inherited = 0;
    for (struct frame *f = first; f <= t->top && f->stack_pointer & FRAME_INHERITED; f++)
        inherited += !(f->stack_pointer & FRAME_HIDDEN);
    struct fathom_path_entry *entry = (struct fathom_path_entry *)(chunk + 1) + count;
    uint32_t left = count;
    for (struct frame *f = t->top; left > 0; f--) {
        if (f->stack_pointer & FRAME_HIDDEN) continue;
        left--;
        if (t->lost && f->enter > t->finished && !(f->stack_pointer & FRAME_INHERITED)) {
            t->lost--;
            chunk->path_calls++;
        }
        *--entry = (struct fathom_path_entry){f->function, f->call_site, f->enter};
    }
    chunk->depth = depth;
    chunk->path_count = count;
    chunk->inherited = inherited;
    chunk->used = count * (uint32_t)sizeof(struct fathom_path_entry);
}

static void name_thread(const struct thread *t, struct fathom_chunk *chunk) {
    if (t->name[0]) __builtin_memcpy(chunk->name, t->name, sizeof chunk->name);
    else SYSTEM(prctl, PR_GET_NAME, chunk->name, 0, 0, 0, 0);
}

void chunk_publish(struct thread *t) {
    // Release, here and in the hooks: live readers find the records below it.
    if (t->chunk) fathom_store32(&t->chunk->used, (uint32_t)(t->cursor - (char *)(t->chunk + 1)));
    t->pending = t->top + 1;
}

// The session's own count has the call until a chunk can tell of it. Relaxed: it is a count, and says nothing about
// anything else.
void chunk_lose_call(struct thread *t) {
    t->lost++;
    __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED);
}

// dlopen does not tell when it is through, and hooks may come from inside it. So the modules are looked at again and
// again, each time after twice as many records.
static void look_at_modules(struct thread *t) {
    modules_scan();
    runtime.modules_stale = 1;  // whatever the last of these looks sees, the process's end looks once more
    char *next = t->cursor + t->look;
    t->look = t->look < LAST_LOOK ? t->look * 2 : 0;
    if (!t->look || next >= t->limit) return;
    t->wanted_limit = t->limit;
    t->limit = next;
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
    uint64_t elapsed = now - t->finished;
    if (elapsed < runtime.ticks_per_second / PROMPT) return elapsed;
    unsigned __int128 ticks = (unsigned __int128)(system_processor_ns() - processor_ns) * runtime.ticks_per_second;
    ticks /= 1000000000u;
    return ticks < elapsed ? (uint64_t)ticks : elapsed;
}

static int chunk_begin(struct thread *t, const struct previous *previous) {
    uint32_t slot;
    size_t size;
    struct fathom_chunk *chunk = session_take_slot(first_size(), t->sequence > 0, &slot, &size);
    if (!chunk) return 0;
    chunk_hide(chunk);
    *chunk = (struct fathom_chunk){
        .kind = FATHOM_CHUNK_RECORDS,
        .flags = t->gap == GAP_LOST ? FATHOM_FLAG_GAP
                 : t->gap           ? FATHOM_FLAG_PATH
                                    : 0,
        .process = runtime.process,
        .thread = t->serial,
        .pid = runtime.pid,
        .tid = t->id,
        .sequence = t->sequence++,
        .orphan_exits = t->orphans,
        .lane = running_lane(t)->id,
        .function_base = (uint32_t)t->function_base,
        .capacity = runtime.slot_size - (uint32_t)sizeof *chunk,
    };
    if (t->lost) __atomic_fetch_sub(&runtime.buffers->unplaced_calls, t->lost, __ATOMIC_RELAXED);
    write_path(t, chunk);
    chunk->lost_calls = t->lost;
    if (previous->is_known) __builtin_memcpy(chunk->name, previous->name, sizeof chunk->name);
    else name_thread(t, chunk);
    uint64_t before = now_ticks();
    chunk->begin_ns = system_monotonic_ns();
    uint64_t after = now_ticks();
    chunk->begin_ticks = before + (after - before) / 2;
    chunk->switch_ticks = previous->is_known ? switch_ticks(t, chunk->begin_ticks, previous->processor_ns) : 0;
    t->slot = slot;
    t->chunk = chunk;
    t->cursor = (char *)(chunk + 1) + chunk->used;
    t->limit = (char *)chunk + size - RECORD_ROOM;
    t->last = chunk->begin_ticks;
    t->calls = t->lost = t->orphans = t->retry = t->gap = 0;
    t->pending = t->top + 1;
    running_lane(t)->is_stale = 0;
    fathom_store32(&chunk->magic, FATHOM_CHUNK_MAGIC);  // release: live readers find the header behind it
    if (t->look) look_at_modules(t);
    return 1;
}

// The moment `now`, in ns.
static uint64_t nanoseconds(const struct fathom_chunk *chunk, uint64_t now) {
    uint64_t elapsed = now - chunk->begin_ticks, second = runtime.ticks_per_second;
    return elapsed < second / COMPUTED ? chunk->begin_ns + elapsed * 1000000000u / second : system_monotonic_ns();
}

// Signals are blocked.
static void finish(struct thread *t, uint64_t now) {
    struct fathom_chunk *chunk = t->chunk;
    if (t->options.slow) chunk_publish(t);
    t->chunk = NULL;
    t->cursor = t->limit = t->wanted_limit = NULL;
    if (now < t->last) now = t->last;
    t->finished = now;
    chunk->calls = t->calls;
    chunk->end_ns = nanoseconds(chunk, now);
    chunk->end_ticks = now;
    name_thread(t, chunk);
}

void chunk_finish(struct thread *t, uint64_t now) {
    uint64_t signals = system_block_signals();
    // A handler may have forked since the caller looked. Then the chunk is the parent's.
    if (t->chunk && t->state != THREAD_INTERRUPTED) {
        finish(t, now);
        session_give_slot(t->slot);
    }
    system_restore_signals(signals);
}

static int make_room(struct thread *t) {
    struct previous previous = {.is_known = 0};
    if (t->wanted_limit) {
        t->limit = t->wanted_limit;
        t->wanted_limit = NULL;
        look_at_modules(t);
        if (t->cursor < t->limit) return 1;
    }
    if (t->chunk) {
        struct fathom_chunk *chunk = t->chunk;
        previous.is_known = 1;
        previous.processor_ns = system_processor_ns();
        finish(t, now_ticks());
        __builtin_memcpy(previous.name, chunk->name, sizeof previous.name);
        session_give_slot(t->slot);
        metadata_look_at_title(t->finished);
    }
    if (chunk_begin(t, &previous)) return 1;
    t->gap = GAP_LOST;
    t->retry = RETRY_CALLS;
    return 0;
}

void chunk_look_at_modules(struct thread *t, int is_recording) {
    t->look = FIRST_LOOK;
    // Each limit is one store, so that a signal handler's hook in between finds both limits or one of them, and nothing
    // else.
    if (!is_recording || !t->limit) return;
    if (!t->wanted_limit) t->wanted_limit = t->limit;
    BARRIER();
    t->limit = NULL;
}

#ifdef FATHOM_VALID
int chunk_is_valid(const struct thread *t) {
    const struct fathom_chunk *chunk = t->chunk;
    if (!chunk) return !t->cursor && !t->limit && !t->wanted_limit;
    const char *start = (const char *)(chunk + 1), *end = (const char *)chunk + runtime.slot_size;
    return chunk->magic == FATHOM_CHUNK_MAGIC && chunk->thread == t->serial && chunk->process == runtime.process &&
           start <= t->cursor && t->cursor <= end && chunk->used <= (uint32_t)(t->cursor - start) &&
           (!t->limit || (start <= t->limit && t->limit <= end - RECORD_ROOM)) && t->last >= chunk->begin_ticks;
}
#endif

void chunk_forget(struct thread *t) {
    t->look = 0;
    if (t->state == THREAD_INTERRUPTED) {
        if (t->chunk) session_shadow_slot(t->slot);
        t->limit = NULL;
    } else {
        t->chunk = NULL;
        t->cursor = t->limit = NULL;
    }
}

int chunk_make_room(struct thread *t) {
    if (t->paused) return 0;
    if (t->retry > 1) {
        t->retry--;
        return 0;
    }
    if (confine_unnoted()) return 0;
    if (t->chunk && t->sequence > 1 && !t->wanted_limit) await_slot();
    uint64_t signals = system_block_signals();
    // In a fork's child, the hook goes on that the forking handler interrupted, perhaps a moment ago. Its chunk is the
    // parent's. The child's own chunk begins when it attaches.
    int made = t->state != THREAD_INTERRUPTED && make_room(t);
    system_restore_signals(signals);
    return made;
}

FATHOM_WITHOUT_HOOKS_END
