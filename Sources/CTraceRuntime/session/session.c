// The session's buffers: finding them, taking slots and giving them back.

#include "session.h"

#include "../host/runtime.h"
#include "../host/text.h"
#include "await.h"
#include "slots.h"

#include <fcntl.h>

FATHOM_WITHOUT_HOOKS

#define VARIABLE "FATHOM_SESSION="

// Copies the session directory's path from the environment into runtime.path. 0 when there is none.
static int find_path(char **environment) {
    size_t room = sizeof runtime.path - sizeof "/functions", n = 0;
    if (environment) {
        for (; *environment; environment++) {
            if (!text_starts_with(*environment, VARIABLE)) continue;
            const char *value = *environment + sizeof VARIABLE - 1;
            n = text_length(value);
            if (n >= room) return 0;
            __builtin_memcpy(runtime.path, value, n);
            break;
        }
    } else {
        // A hook ran before this library's constructor, so the C library may not know the environment yet.
        long descriptor = system_open("/proc/self/environ", O_RDONLY);
        if (descriptor < 0) return 0;
        char bytes[512];
        const char *variable = VARIABLE;
        size_t matched = 0;  // bytes of VARIABLE matched in the running entry; SIZE_MAX: it is another variable
        long size;
        while ((size = system_read(descriptor, bytes, sizeof bytes)) > 0) {
            for (long i = 0; i < size; i++) {
                if (bytes[i] == 0) {
                    if (matched == sizeof VARIABLE - 1) goto found;
                    matched = 0;
                } else if (matched == sizeof VARIABLE - 1) {
                    if (n + 1 >= room) goto found;
                    runtime.path[n++] = bytes[i];
                } else if (matched != SIZE_MAX) {
                    matched = bytes[i] == variable[matched] ? matched + 1 : SIZE_MAX;
                }
            }
        }
    found:
        system_close(descriptor);
    }
    if (!n) return 0;
    __builtin_memcpy(runtime.path + n, "/buffers", sizeof "/buffers");
    return 1;
}

// Whether a head describes a file that can be mapped and written to. What it says is not trusted, because a wrong
// offset would raise SIGBUS in the program.
static int is_sound(const struct fathom_buffers *head, uint64_t file_size) {
    uint64_t requests_end = fathom_missed_offset(head->words_offset) + FATHOM_STEERING_SIZE;
    uint64_t slots_end = head->slots_offset + (uint64_t)head->slot_limit * head->slot_size;
    return head->magic == FATHOM_BUFFERS_MAGIC && head->version == FATHOM_BUFFERS_VERSION &&
           head->header_size == sizeof *head && head->chunk_header_size == sizeof(struct fathom_chunk) &&
           head->words_offset == sizeof *head && requests_end <= head->slots_offset &&
           head->slots_offset % PAGE_SIZE == 0 && head->slots_offset <= 1u << 20 && head->slot_size % PAGE_SIZE == 0 &&
           head->slot_size >= 2 * PATH_ROOM && head->slot_size <= 1u << 22 && head->slot_limit > 0 &&
           head->slot_limit <= FATHOM_SLOT_LIMIT && head->slot_limit % fathom_window_slots(head->slot_size) == 0 &&
           head->clock <= FATHOM_CLOCK_COUNTER && head->keeps <= FATHOM_KEEPS_SAMPLES && slots_end <= file_size;
}

// `fathom arm` calls its sessions so.
static int is_armed(void) {
    static const char end[] = FATHOM_ARMED_SUFFIX "/buffers";
    size_t size = text_length(runtime.path);
    return size >= sizeof end && text_starts_with(runtime.path + size - (sizeof end - 1), end);
}

int session_open(char **environment) {
    if (!find_path(environment)) return 0;
    long descriptor = system_open_session(runtime.path);
    if (descriptor < 0) return 0;
    struct fathom_buffers *head = &runtime.head;
    int mapped = 0;
    if (system_read(descriptor, head, sizeof *head) == sizeof *head && is_sound(head, system_size(descriptor))) {
        runtime.buffers = system_map_file(descriptor, 0, head->slots_offset);
        runtime.words = (uint32_t *)((char *)runtime.buffers + head->words_offset);
        runtime.requests_offset = (uint32_t)fathom_requests_offset(head->words_offset);
        runtime.ring_ends = (uint32_t *)((char *)runtime.buffers + fathom_ends_offset(head->words_offset));
        runtime.slots_offset = head->slots_offset;
        runtime.slot_size = head->slot_size;
        runtime.slot_limit = head->slot_limit;
        runtime.window_slots = fathom_window_slots(head->slot_size);
        runtime.inode = system_inode(descriptor);
        runtime.clock = head->clock;
        runtime.ticks_per_second = head->ticks_per_second;
        runtime.paused = head->paused;
        runtime.options.has_ring = head->ring_slots != 0;
        runtime.options.keeps = head->keeps;
        runtime.options.max_depth = head->max_depth;
        runtime.options.min_cost_ticks = head->min_cost_ticks;
        // Of waits, a ring has what a log has, and sums have them as calls.
        const uint32_t of_all = FATHOM_TELLS_LIBRARY_CALLS, of_ring = FATHOM_TELLS_AWAY | FATHOM_TELLS_RUNNING;
        if (head->keeps) head->tells &= of_all | (head->keeps == FATHOM_KEEPS_TIMES ? FATHOM_TELLS_WAITS : 0);
        else if (head->ring_slots) head->tells &= of_all | of_ring | FATHOM_TELLS_WAITS;
        runtime.is_armed = is_armed();
        // The hooks of MODE_SLOW notice each stop and start.
        runtime.options.slow = head->clock != FATHOM_CLOCK_COUNTER || head->max_depth != UINT32_MAX ||
                               head->min_cost_ticks != 0 || runtime.is_armed;
        mapped = runtime.buffers && windows_open(descriptor);
        if (mapped) system_map_over(&steering, descriptor, fathom_steering_offset(head->slots_offset), sizeof steering);
    }
    system_close(descriptor);
    if (mapped) await_see_recorder();
    return mapped;
}

// When this process last populated each slot whole, by a coarse clock that wraps around within hours; 0 if never.
static uint32_t populated[FATHOM_SLOT_LIMIT];

void session_close(void) {
    windows_close();
    if (runtime.buffers) system_free(runtime.buffers, runtime.slots_offset);
    system_shadow(&steering, sizeof steering);
    __builtin_memset(populated, 0, sizeof populated);
}

// The words are part of a sparse file, too. The recorder wrote their first page; each later page is allocated by the
// first process that comes to it.
static int has_word(uint32_t slot) {
    uintptr_t word = (uintptr_t)&runtime.words[slot];
    if (word % PAGE_SIZE != 0) return 1;
    return system_populate((void *)word, PAGE_SIZE) == 0;
}

#define TICK 65536u  // of the coarse clock, in ticks of the session's

// How long a slot counts as populated, in seconds. Asking the kernel for pages that a slot already has takes longer
// than everything else in a change of chunks, so it is not asked again before. Most file systems would never have to be
// asked again. Some need new room on the disk when a page changes that was already written there, and may have none
// left. The kernel lets more time than this pass between two looks for what to write to the disk.
#define MEMORY_S 4u

static int was_populated(uint32_t slot, uint32_t now) {
    // Relaxed, here and below: only the thread that has the slot asks. Taking the slot acquired what its previous owner
    // did.
    uint32_t then = __atomic_load_n(&populated[slot], __ATOMIC_RELAXED);
    return then && now - then < runtime.ticks_per_second / TICK * MEMORY_S;
}

// Populates a slot. Returns how much of it; 0 if that is less than `least`.
static size_t populate(uint32_t slot, struct fathom_chunk *chunk, size_t least, int wants_all) {
    uint32_t now = (uint32_t)(now_ticks() / TICK);
    if (was_populated(slot, now)) return runtime.slot_size;
    if (wants_all && system_populate(chunk, runtime.slot_size) == 0) {
        __atomic_store_n(&populated[slot], now ? now : 1, __ATOMIC_RELAXED);
        return runtime.slot_size;
    }
    return system_populate(chunk, least) == 0 ? least : 0;
}

void session_forget_populated(void) {
    uint32_t slots = session_slots();
    for (uint32_t slot = 0; slot < slots; slot++) populated[slot] = 0;
}

// Takes the lowest slot whose word is `free`, of those below `limit`, or returns runtime.slot_limit. So few slots are
// in use, which stay in the cache, and there is no list that could break when a process dies.
static uint32_t take_lowest(uint32_t free, uint32_t owned, uint32_t limit) {
    uint32_t known = fathom_load32(&runtime.buffers->slot_high);
    for (uint32_t slot = 0; slot < limit; slot++) {
        if (slot >= known && !has_word(slot)) break;
        // Relaxed, because the swap looks again. The swap acquires: whoever freed the slot has read, or written, all it
        // wanted.
        if (__atomic_load_n(&runtime.words[slot], __ATOMIC_RELAXED) != free) continue;
        if (fathom_swap32(&runtime.words[slot], free, owned)) return slot;
    }
    return runtime.slot_limit;
}

// Takes a slot, or returns runtime.slot_limit. While the recorder copies a ring, no chunk of it is written over, unless
// that takes so long that as many slots again are in use; then it has been killed, or gets no processor.
static uint32_t take(uint32_t owned) {
    uint32_t ring = runtime.head.ring_slots, all = runtime.slot_limit, slot = all;
    uint32_t high = fathom_load32(&runtime.buffers->slot_high);
    if (ring && high >= ring) {
        if (fathom_load32(&runtime.buffers->ring_held)) {
            slot = take_lowest(FATHOM_SLOT_SPARE, owned, high < all ? high : all);
            if (slot == all) slot = take_lowest(FATHOM_SLOT_FREE, owned, ring < all / 2 ? 2 * ring : all);
        }
        if (slot == all) slot = ring_take(owned);
    }
    // More threads than the ring has slots each need one all the same.
    return slot == all ? take_lowest(FATHOM_SLOT_FREE, owned, all) : slot;
}

struct fathom_chunk *session_take_slot(size_t least, int wants_all, uint32_t *taken, size_t *size) {
    struct fathom_buffers *buffers = runtime.buffers;
    if (fathom_load32(&buffers->control) != FATHOM_CONTROL_RECORD) return NULL;
    uint32_t slot = take(runtime.process << 2 | FATHOM_SLOT_OWNED);
    if (slot == runtime.slot_limit) return NULL;
    struct fathom_chunk *chunk = windows_slot(slot);
    if (!chunk || !(*size = populate(slot, chunk, least, wants_all))) {
        fathom_store32(&runtime.words[slot], FATHOM_SLOT_FREE);
        return NULL;
    }
    uint32_t high = fathom_load32(&buffers->slot_high);
    while (high <= slot && !fathom_swap32(&buffers->slot_high, high, slot + 1))
        high = fathom_load32(&buffers->slot_high);
    *taken = slot;
    return chunk;
}

void session_give_slot(uint32_t slot) {
    if (runtime.head.ring_slots) ring_give(slot);
    // Release: a recorder that finds the slot full finds the whole chunk. The load of recorder_waits may come before
    // the store. Then the recorder sleeps on, and looks when its time is up.
    fathom_store32(&runtime.words[slot], runtime.process << 2 | FATHOM_SLOT_FULL);
    if (!runtime.head.ring_slots) requests_wake();
}

// The records say how many calls there are.
static void finish_left(struct fathom_chunk *chunk) {
    const char *record = (const char *)(chunk + 1) + chunk->path_count * sizeof(struct fathom_path_entry);
    chunk->used = fathom_chunk_written(chunk);
    const char *end = (const char *)(chunk + 1) + chunk->used;
    chunk->calls = 0;
    for (uint32_t size; chunk->kind == FATHOM_CHUNK_RECORDS && record + 2 <= end; record += size) {
        uint16_t first;
        __builtin_memcpy(&first, record, sizeof first);
        chunk->calls += first & 1;
        size = fathom_record_size(record, (size_t)(end - record));
    }
    if (chunk->kind == FATHOM_CHUNK_PATHS) chunk->flags |= FATHOM_FLAG_LAST;
    chunk->end_ns = system_monotonic_ns();
    chunk->end_ticks = now_ticks();
}

uint32_t session_slots(void) {
    uint32_t high = fathom_load32(&runtime.buffers->slot_high);
    return high < runtime.slot_limit ? high : runtime.slot_limit;
}

struct fathom_chunk *session_owned(uint32_t slot) {
    uint32_t owned = runtime.process << 2 | FATHOM_SLOT_OWNED;
    struct fathom_chunk *chunk = fathom_load32(&runtime.words[slot]) == owned ? windows_slot(slot) : NULL;
    return chunk && fathom_load32(&chunk->magic) == FATHOM_CHUNK_MAGIC ? chunk : NULL;
}

void session_give_left(uint32_t thread) {
    uint32_t slots = session_slots();
    for (uint32_t slot = 0; slot < slots; slot++) {
        struct fathom_chunk *chunk = session_owned(slot);
        if (!chunk || chunk->thread != thread) continue;
        if (chunk->kind == FATHOM_CHUNK_STACK) {
            session_drop_slot(slot);
            continue;
        }
        finish_left(chunk);
        session_give_slot(slot);
    }
}

void session_drop_slot(uint32_t slot) { fathom_store32(&runtime.words[slot], FATHOM_SLOT_FREE); }

FATHOM_WITHOUT_HOOKS_END
