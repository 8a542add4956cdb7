// Manages the memory of call paths: the process's own memory, and units in slots of the session's buffers.

#include "path_tree.h"

#include "../host/runtime.h"
#include "../session/metadata.h"
#include "../session/session.h"
#include "../session/slots.h"
#include "chunk.h"

FATHOM_WITHOUT_HOOKS

#define FIRST_SIZE (4ul * 1024)    // how much of a thread's first chunk has memory at first
#define FIRST_BLOCK (16ul * 1024)  // sizes of the first and the largest blocks of the process's memory
#define LAST_BLOCK (1024ul * 1024)

struct path_part {
    struct path_part *next;
    struct fathom_chunk *chunk;
    uint32_t slot;
};

// ---- the process's own memory

void *path_take(struct path_arena *arena) {
    if (arena->free == arena->end) {
        size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
        if (size > LAST_BLOCK) size = LAST_BLOCK;
        struct path_block *block = system_allocate(size);
        if (!block) return NULL;
        block->size = size;
        block->next = arena->blocks;
        // Release: another thread that walks the blocks (paths_forget_unloaded) finds the block's size and the next
        // one.
        __atomic_store_n(&arena->blocks, block, __ATOMIC_RELEASE);
        arena->free = (char *)(block + 1);
        arena->end = (char *)block + size;
    }
    char *taken = arena->free;
    arena->free += sizeof(struct path);
    return taken;
}

void path_free_blocks(struct path_block *block) {
    for (struct path_block *next; block; block = next) {
        next = block->next;
        system_free(block, block->size);
    }
}

// ---- units

static uint32_t units_in(size_t size) {
    return (uint32_t)((size - sizeof(struct fathom_chunk) - sizeof(struct fathom_paths_head)) / FATHOM_UNIT_SIZE);
}

static struct fathom_path *unit_at(const struct fathom_chunk *chunk, uint32_t index) {
    return (struct fathom_path *)((char *)(chunk + 1) + sizeof(struct fathom_paths_head)) + index;
}

static int begin_chunk(struct thread *t) {
    struct paths *p = paths_of(t);
    uint32_t slot;
    size_t size;
    struct path_part *part = path_take(&p->others);
    if (!part) return 0;
    struct fathom_chunk *chunk =
        session_take_slot(FIRST_SIZE > PAGE_SIZE ? FIRST_SIZE : PAGE_SIZE, p->parts != NULL, &slot, &size);
    if (!chunk) return 0;
    if (p->parts) p->first += p->units;
    chunk_hide(chunk);
    *chunk = (struct fathom_chunk){
        .kind = FATHOM_CHUNK_PATHS,
        .process = runtime.process,
        .thread = t->serial,
        .pid = runtime.pid,
        .tid = t->id,
        .sequence = p->sequence++,
        .begin_ticks = now_ticks(),
        .begin_ns = system_monotonic_ns(),
        .used = sizeof(struct fathom_paths_head),
        .capacity = runtime.slot_size - (uint32_t)sizeof *chunk,
    };
    chunk_write_name(t, chunk);
    *(struct fathom_paths_head *)(chunk + 1) =
        (struct fathom_paths_head){.tree = p->tree, .first = p->first, .keeps = runtime.options.keeps};
    fathom_store32(&chunk->magic, FATHOM_CHUNK_MAGIC);  // release: live readers find the header behind it
    part->chunk = chunk;
    part->slot = slot;
    part->next = p->parts;
    p->parts = part;
    p->units = 0;
    p->limit = units_in(size);
    metadata_look_at_title(chunk->begin_ticks);
    return 1;
}

// Makes room for a unit. Signals are blocked.
static int make_room(struct thread *t) {
    struct paths *p = paths_of(t);
    uint32_t all = units_in(runtime.slot_size);
    if (p->parts && p->limit < all) {
        char *end = (char *)unit_at(p->parts->chunk, p->limit);
        char *page = (char *)((uintptr_t)end & ~(PAGE_SIZE - 1)),
             *slot_end = (char *)p->parts->chunk + runtime.slot_size;
        if (!system_populate(page, (size_t)(slot_end - page))) {
            p->limit = all;
            return 1;
        }
    }
    return begin_chunk(t);
}

// Returns room for `count` units more, which readers do not see yet; NULL when there is none.
void *path_new_unit(struct thread *t, uint32_t count, uint32_t *number) {
    struct paths *p = paths_of(t);
    if (p->parts && p->units + count <= p->limit) {
        *number = p->first + p->units;
        return unit_at(p->parts->chunk, p->units);
    }
    if (p->retry > 1) {
        p->retry--;
        return NULL;
    }
    if (confine_unnoted()) return NULL;
    uint64_t signals = system_block_signals_within(STACK_ROOM_SMALL);
    int has_room = t->state != THREAD_INTERRUPTED && make_room(t);
    system_restore_signals(signals);
    p->retry = has_room ? 0 : RETRY_CALLS;
    return has_room ? path_new_unit(t, count, number) : NULL;
}

// Lets readers see the units that path_new_unit returned.
void path_publish(struct paths *p, uint32_t count) {
    p->units += count;
    // Release: live readers find the unit below it.
    fathom_store32(&p->parts->chunk->used,
                   (uint32_t)sizeof(struct fathom_paths_head) + p->units * (uint32_t)FATHOM_UNIT_SIZE);
}

// Counts one path more. Returns 0 when the session may not have it.
static int count_path(void) {
    uint32_t *count = &runtime.buffers->path_count;
    // Without the first look, the count could overflow.
    return fathom_load32(count) < runtime.head.max_paths && fathom_add32(count, 1) < runtime.head.max_paths;
}

// Adds a unit that is laid out like a path's. Returns NULL when there is no room, or the session may have no more
// paths.
struct fathom_path *path_add_unit(struct thread *t, uint16_t unit, const struct path *path, uint32_t *number) {
    struct fathom_path *sums = path_new_unit(t, 1, number);
    if (!sums || (unit == FATHOM_UNIT_PATH && !count_path())) return NULL;
    *sums = (struct fathom_path){
        .unit = unit,
        .path = path->caller->number,
        .function = unit == FATHOM_UNIT_PATH ? path->function : 0,
        .first = now_ticks(),
        .shortest = UINT64_MAX,
    };
    path_publish(paths_of(t), 1);
    return sums;
}

void path_give_chunks(struct thread *t, uint8_t flags, uint64_t now) {
    struct paths *p = paths_of(t);
    uint64_t signals = system_block_signals();
    // A handler may have forked since the caller looked. Then the chunks are the parent's.
    if (t->state != THREAD_INTERRUPTED) {
        uint64_t now_ns = system_monotonic_ns();
        for (struct path_part *part = p->parts; part; part = part->next) {
            part->chunk->flags |= flags;
            part->chunk->end_ns = now_ns;
            part->chunk->end_ticks = now > part->chunk->begin_ticks ? now : part->chunk->begin_ticks;
            chunk_write_name(t, part->chunk);
            session_give_slot(part->slot);
        }
    }
    p->parts = NULL;
    system_restore_signals(signals);
}

void path_shadow_chunks(struct thread *t, const void *unit) {
    for (struct path_part *part = paths_of(t)->parts; part; part = part->next) {
        size_t offset = (size_t)((const char *)unit - (const char *)part->chunk);
        if (!unit || offset < runtime.slot_size) windows_shadow_slot(part->slot);
    }
}

FATHOM_WITHOUT_HOOKS_END
