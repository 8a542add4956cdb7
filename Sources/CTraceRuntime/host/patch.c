// Other threads may be executing what is written here. What they execute is therefore changed by single stores, and
// between two of them all processors are made to fetch their instructions anew.

#include "patch.h"

#include "base.h"

#include <linux/membarrier.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

static long protect(uintptr_t low, uintptr_t high, int rights) {
    return SYSTEM(mprotect, low, high - low, rights, 0, 0, 0);
}

static long open_pages(const struct patch *patch) {
    return protect(patch->low, patch->high, PROT_READ | PROT_WRITE | PROT_EXEC);
}

long patch_begin(struct patch *patch, uintptr_t low, uintptr_t high) {
    *patch = (struct patch){low & ~(PAGE_SIZE - 1), (high + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1), .part_count = 0};
    struct mapping found;
    for (uintptr_t at = patch->low; at < patch->high && maps_find(at, &found); at = found.high) {
        if (found.low >= patch->high || patch->part_count == PATCH_PARTS) break;
        patch->parts[patch->part_count++] = found;
    }
    return open_pages(patch);
}

void patch_end(const struct patch *patch) {
    // Where nothing tells what they were, they are what code is as a rule.
    if (!patch->part_count) protect(patch->low, patch->high, PROT_READ | PROT_EXEC);
    for (const struct mapping *part = patch->parts; part < patch->parts + patch->part_count; part++)
        protect(part->low > patch->low ? part->low : patch->low, part->high < patch->high ? part->high : patch->high,
                part->rights);
}

int patch_spread(const struct patch *patch) {
    // Sequentially consistent: whatever makes the other processors fetch anew, they find all that was written before.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    // A process has to say once that it will ask. To say it again costs next to nothing, and a fork's child has to.
    if (SYSTEM(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0) == 0 &&
        SYSTEM(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0) == 0)
        return 1;
    // Before Linux 4.16, and where a filter forbids it: whoever takes rights away interrupts all processors that run
    // the process, and the return from an interrupt has the same effect.
    return protect(patch->low, patch->high, PROT_READ | PROT_EXEC) == 0 && open_pages(patch) == 0;
}

FATHOM_WITHOUT_HOOKS_END
