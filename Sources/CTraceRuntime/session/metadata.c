// The process's metadata chunk: items are appended as things happen, so that nothing is needed at the end.

#include "metadata.h"

#include "../host/runtime.h"
#include "await.h"
#include "session.h"

#include <fcntl.h>
#include <sys/prctl.h>

FATHOM_WITHOUT_HOOKS

#define TEXT_LIMIT 3072u  // bytes of path, and of command line, that are kept

static void begin_chunk(void) {
    uint32_t slot;
    size_t size;
    struct fathom_chunk *chunk = session_take_slot(PAGE_SIZE, 0, &slot, &size);
    if (!chunk) return;
    chunk_hide(chunk);
    *chunk = (struct fathom_chunk){
        .kind = FATHOM_CHUNK_METADATA,
        .process = runtime.process,
        .pid = runtime.pid,
        .tid = runtime.pid,
        .sequence = runtime.metadata_sequence++,
        .begin_ticks = now_ticks(),
        .begin_ns = system_monotonic_ns(),
        .capacity = runtime.slot_size - (uint32_t)sizeof *chunk,
    };
    runtime.metadata = chunk;
    runtime.metadata_slot = slot;
    runtime.metadata_end = (char *)chunk + size;
    fathom_store32(&chunk->magic, FATHOM_CHUNK_MAGIC);  // release: live readers that see it find the header
}

static void finish_chunk(void) {
    struct fathom_chunk *chunk = runtime.metadata;
    runtime.metadata = NULL;
    chunk->end_ns = system_monotonic_ns();
    chunk->end_ticks = now_ticks();
    session_give_slot(runtime.metadata_slot);
    requests_wake();  // the recorder takes metadata from a ring, too
}

// Whether `size` more bytes fit into the populated part of this chunk.
static int has_room(size_t size) {
    struct fathom_chunk *chunk = runtime.metadata;
    return chunk && (char *)(chunk + 1) + chunk->used + size <= runtime.metadata_end;
}

// Whether `size` more bytes fit, in this chunk or a new one.
static int make_room(size_t size) {
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!runtime.metadata) begin_chunk();
        if (!runtime.metadata) return 0;
        if (has_room(size)) return 1;
        char *slot_end = (char *)runtime.metadata + runtime.slot_size;
        char *end = (char *)(runtime.metadata + 1) + runtime.metadata->used + size;
        if (end <= slot_end && runtime.metadata_end < slot_end &&
            !system_populate(runtime.metadata_end, (size_t)(slot_end - runtime.metadata_end))) {
            runtime.metadata_end = slot_end;
            return 1;
        }
        finish_chunk();
    }
    return 0;
}

// The caller has made room.
static void write_item(struct fathom_item item, const struct part *parts, size_t count) {
    char *start = (char *)(runtime.metadata + 1) + runtime.metadata->used, *to = start;
    __builtin_memcpy(to, &item, sizeof item);
    to += sizeof item;
    for (size_t i = 0; i < count; i++) {
        __builtin_memcpy(to, parts[i].bytes, parts[i].size);
        to += parts[i].size;
    }
    while (to < start + item.size) *to++ = 0;
    // Release: live readers that see the new size find the item.
    fathom_store32(&runtime.metadata->used, runtime.metadata->used + item.size);
}

void metadata_append(uint16_t kind, const struct part *parts, size_t count) {
    size_t size = sizeof(struct fathom_item);
    for (size_t i = 0; i < count; i++) size += parts[i].size;
    struct fathom_item item = {.kind = kind, .size = (uint32_t)((size + 7) & ~7ul)};
    uint64_t signals = lock_take(LOCK_METADATA);
    if (make_room(item.size)) write_item(item, parts, count);
    lock_give(LOCK_METADATA, signals);
}

// Reads what /proc calls the process: its arguments, or the title that the program has written over them. A title may
// go on over the environment, which lies behind the arguments; the arguments then do not end with NUL. The title is
// read from memory and not from /proc, because the program may count on the number of a descriptor that /proc would
// take, however briefly.
static uint32_t read_title(const char *from, char *title) {
    const char *end = runtime.arguments_end, *at = from;
    char *to = title;
    while (at < end && to < title + FATHOM_TITLE_LIMIT) *to++ = *at++;
    if (to > title && to[-1])
        while (at < runtime.environment_end && *at && to < title + FATHOM_TITLE_LIMIT) *to++ = *at++;
    return (uint32_t)(to - title);
}

static struct {
    uint32_t size;
    uint64_t looked;  // ticks
    char text[FATHOM_TITLE_LIMIT];
} told;

void metadata_forget(void) { told.looked = told.size = 0; }

void metadata_arguments(int count, char **arguments, char **environment) {
    const char *from = count > 0 && arguments ? arguments[0] : NULL, *end = from;
    if (!from) return;
    for (char **next = arguments; *next == end && end - from < FATHOM_TITLE_LIMIT; next++)
        while (*end++) continue;
    runtime.arguments_end = end;
    for (char **next = environment; *next == end && end - from < FATHOM_TITLE_LIMIT; next++)
        while (*end++) continue;
    runtime.environment_end = end;
    told.size = read_title(from, told.text);
    runtime.arguments = from;
}

void metadata_title(void) {
    const char *from = runtime.arguments;
    char title[FATHOM_TITLE_LIMIT];
    uint64_t signals;
    // A program may have given away its first stack, at whose top the arguments lie.
    if (!from || !system_is_readable(from) || !system_is_readable(runtime.environment_end - sizeof(uint64_t))) return;
    // Who does not get the lock leaves the title to the one that has it.
    if (!lock_try(LOCK_TITLE, &signals)) return;
    uint32_t size = read_title(from, title);
    if (size != told.size || __builtin_memcmp(title, told.text, size) != 0) {
        __builtin_memcpy(told.text, title, size);
        told.size = size;
        struct fathom_title_item item = {.ticks = now_ticks(), .text_size = size};
        struct part parts[] = {ITEM_BODY(item), {title, size}};
        metadata_append(FATHOM_ITEM_TITLE, parts, 2);
    }
    lock_give(LOCK_TITLE, signals);
}

void metadata_look_at_title(uint64_t now) {
    // Relaxed: should two threads look at once, one of them finds nothing new.
    uint64_t since = now - __atomic_load_n(&told.looked, __ATOMIC_RELAXED);
    if (since < runtime.ticks_per_second / 100) return;
    __atomic_store_n(&told.looked, now, __ATOMIC_RELAXED);
    metadata_title();
}

void metadata_process(uint32_t parent_process) {
    static char path[TEXT_LIMIT], command[TEXT_LIMIT];  // only one thread comes here, and its stack may be small
    size_t path_size = system_program_path(path, sizeof path);
    long command_size = 0;
    long descriptor = system_open("/proc/self/cmdline", O_RDONLY);
    if (descriptor >= 0) {
        command_size = system_read(descriptor, command, sizeof command);
        system_close(descriptor);
    }
    runtime.start_ticks = now_ticks();
    struct fathom_process_item item = {
        .pid = runtime.pid,
        // The process that forked may have ended by now.
        .parent_pid = parent_process == FATHOM_NO_PROCESS ? system_parent_id() : runtime.forker,
        .parent_process = parent_process,
        .origin = parent_process == FATHOM_NO_PROCESS ? FATHOM_ORIGIN_IMAGE : FATHOM_ORIGIN_FORK,
        .start_ticks = runtime.start_ticks,
        .start_ns = system_monotonic_ns(),
        .path_size = (uint32_t)path_size,
        .command_size = command_size > 0 ? (uint32_t)command_size : 0,
    };
    struct part parts[] = {ITEM_BODY(item), {path, item.path_size}, {command, item.command_size}};
    metadata_append(FATHOM_ITEM_PROCESS, parts, 3);
}

void metadata_end(uint32_t how) {
    metadata_title();
    struct fathom_end_item item = {.ticks = now_ticks(), .how = how};
    struct part parts[] = {ITEM_BODY(item)};
    metadata_append(FATHOM_ITEM_END, parts, 1);
}

void metadata_reserve_end(void) {
    uint64_t signals = lock_take(LOCK_METADATA);
    make_room(sizeof(struct fathom_end_item));
    lock_give(LOCK_METADATA, signals);
}

void metadata_end_quietly(uint32_t how, uint64_t now) {
    struct fathom_end_item end = {.ticks = now, .how = how};
    struct fathom_item item = {.kind = FATHOM_ITEM_END, .size = sizeof end};
    struct part parts[] = {ITEM_BODY(end)};
    if (!fathom_swap32(&locks[LOCK_METADATA], 0, 1)) return;
    if (has_room(sizeof end)) write_item(item, parts, 1);
    fathom_store32(&locks[LOCK_METADATA], 0);
}

void metadata_finish(void) {
    uint64_t signals = lock_take(LOCK_METADATA);
    if (runtime.metadata) finish_chunk();
    lock_give(LOCK_METADATA, signals);
}

// The end of recording in a process that may no longer make system calls.

void confine_end(uint64_t now) {
    int is_ready = runtime.state == STATE_READY && control_mode() != MODE_UNKNOWN;
    runtime_set_off();
    if (is_ready) metadata_end_quietly(FATHOM_END_CONFINED, now);
    fathom_store32(&runtime.state, STATE_OFF);
}

int confine_unnoted(void) {
    if (runtime.seccomp_mode || !system_seccomp_mode()) return 0;
    confine_end(now_ticks());
    return 1;
}

FATHOM_WITHOUT_HOOKS_END
