// Other threads may be executing what is written here. What they execute is therefore changed by single stores, and
// between two of them all processors are made to fetch their instructions anew.

#include "patch.h"

#include "base.h"

#include <linux/membarrier.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

static uintptr_t first_page(uintptr_t low) { return low & ~(PAGE_SIZE - 1); }
static size_t pages(uintptr_t low, uintptr_t high) {
    return (size_t)(high - first_page(low) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

static long protect(uintptr_t low, uintptr_t high, int rights) {
    return SYSTEM(mprotect, first_page(low), pages(low, high), rights, 0, 0, 0);
}

long patch_begin(uintptr_t low, uintptr_t high) { return protect(low, high, PROT_READ | PROT_WRITE | PROT_EXEC); }

void patch_end(uintptr_t low, uintptr_t high) { protect(low, high, PROT_READ | PROT_EXEC); }

int patch_spread(uintptr_t low, uintptr_t high) {
    // Sequentially consistent: whatever makes the other processors fetch anew, they find all that was written before.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    // A process has to say once that it will ask. To say it again costs next to nothing, and a fork's child has to.
    if (SYSTEM(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0) == 0 &&
        SYSTEM(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0) == 0)
        return 1;
    // Before Linux 4.16, and where a filter forbids it: whoever takes rights away interrupts all processors that run
    // the process, and the return from an interrupt has the same effect.
    return protect(low, high, PROT_READ | PROT_EXEC) == 0 && patch_begin(low, high) == 0;
}

FATHOM_WITHOUT_HOOKS_END
