// Windows on the session's buffers: runs of slots that are mapped at once.

#include "windows.h"

#include "../host/runtime.h"

#include <fcntl.h>

FATHOM_WITHOUT_HOOKS

static size_t window_size(void) { return (size_t)runtime.window_slots * runtime.slot_size; }

static char *map_window_of(long descriptor, uint32_t window) {
    return system_map_file(descriptor, runtime.slots_offset + window * (uint64_t)window_size(), window_size());
}

// Maps what follows, in the file, the nearest window below that is mapped, or the head. This needs neither a descriptor
// nor a path, so a program may at any time change its user, its root directory or its limits, and close or replace
// whatever it has open. NULL when there is no address space.
static char *map_window_behind(uint32_t window) {
    char *end = (char *)runtime.buffers + runtime.slots_offset, *start = NULL;
    uint32_t next = window;
    // Acquire: see windows_slot.
    while (next > 0 && !(start = __atomic_load_n(&runtime.windows[next - 1], __ATOMIC_ACQUIRE))) next--;
    if (start) end = start + window_size();
    for (char *step = NULL;; step = start, end = start + window_size(), next++) {
        start = system_map_following(end, window_size());
        if (step) system_free(step, window_size());
        if (!start || next == window) return start;
    }
}

// Emulators such as qemu cannot map a second time what is mapped already.
static char *map_window_anew(uint32_t window) {
    long descriptor = system_open_session(runtime.path);
    if (descriptor < 0) return NULL;
    // By now the path may belong to another session.
    char *start = system_inode(descriptor) == runtime.inode ? map_window_of(descriptor, window) : NULL;
    system_close(descriptor);
    return start;
}

int windows_open(long descriptor) { return (runtime.windows[0] = map_window_of(descriptor, 0)) != NULL; }

void windows_close(void) {
    for (uint32_t window = 0; window < FATHOM_SLOT_LIMIT; window++)
        if (runtime.windows[window]) system_free(runtime.windows[window], window_size());
}

struct fathom_chunk *windows_slot(uint32_t slot) {
    uint32_t window = slot / runtime.window_slots;
    // Acquire: another thread may have mapped it a moment ago. The exchange with which it set the word releases that.
    char *start = __atomic_load_n(&runtime.windows[window], __ATOMIC_ACQUIRE);
    if (!start) {
        start = map_window_behind(window);
        if (!start) start = map_window_anew(window);
        if (!start) return NULL;
        char *none = NULL;
        if (!__atomic_compare_exchange_n(&runtime.windows[window], &none, start, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            system_free(start, window_size());
            start = none;
        }
    }
    return (struct fathom_chunk *)(start + (size_t)(slot % runtime.window_slots) * runtime.slot_size);
}

void windows_shadow_slot(uint32_t slot) {
    char *address = (char *)windows_slot(slot);
    if (!address || !system_shadow(address, runtime.slot_size)) return;
    runtime.windows[slot / runtime.window_slots] = NULL;  // mapped anew when a slot of it is needed
}

FATHOM_WITHOUT_HOOKS_END
