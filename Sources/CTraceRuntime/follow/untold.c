#include "untold.h"

#include "../file/session.h"
#include "../host/runtime.h"

#include <errno.h>

FATHOM_WITHOUT_HOOKS

#define LIMIT 256u
#define TAKEN UINT32_MAX  // in place of a thread's id: somebody is changing the entry

// An entry belongs to whoever has put TAKEN in place of its id, by a swap that acquires what was stored before. Storing
// an id, or 0, releases it.
static struct {
    uint32_t id;  // the kernel's; 0: free
    uint32_t serial;
    void *memory;  // the thread's first mapping
} entries[LIMIT];

static void give_back(uint32_t i) {
    session_give_left(entries[i].serial);
    system_free(entries[i].memory, MEMORY_SIZE);
}

// The new thread may have the id of one that is gone.
static int is_gone(uint32_t id, const struct thread *joining) {
    return (joining && id == joining->id) || SYSTEM(tgkill, runtime.pid, id, 0, 0, 0, 0) == -ESRCH;
}

static void sweep(const struct thread *joining) {
    for (uint32_t i = 0; i < LIMIT; i++) {
        uint32_t id = fathom_load32(&entries[i].id);
        if (!id || id == TAKEN || !is_gone(id, joining) || !fathom_swap32(&entries[i].id, id, TAKEN)) continue;
        give_back(i);
        fathom_store32(&entries[i].id, 0);
    }
}

void untold_sweep(void) { sweep(NULL); }

int untold_join(struct thread *t) {
    sweep(t);
    for (uint32_t i = 0; i < LIMIT; i++) {
        if (fathom_load32(&entries[i].id) || !fathom_swap32(&entries[i].id, 0, TAKEN)) continue;
        entries[i].serial = t->serial;
        entries[i].memory = t->memory;
        t->untold = i + 1;
        fathom_store32(&entries[i].id, t->id);
        return 1;
    }
    return 0;
}

void untold_leave(struct thread *t) {
    if (!t->untold) return;
    fathom_store32(&entries[t->untold - 1].id, 0);
    t->untold = 0;
}

void untold_forget(void) { __builtin_memset(entries, 0, sizeof entries); }

FATHOM_WITHOUT_HOOKS_END
