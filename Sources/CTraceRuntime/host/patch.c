// Other threads may be executing what is written here. What they execute is therefore changed by single stores, and
// between two of them all processors are made to fetch their instructions anew.

#include "patch.h"

#include "calls.h"

#include "base.h"

#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

// Other mappings may begin within what is a page on other kernels.
static uintptr_t page_size(void) {
    static uintptr_t size;
    if (!size) size = getauxval(AT_PAGESZ);
    return size ? size : PAGE_SIZE;
}

static long open_pages(const struct patch *patch) {
    return system_protect(patch->low, patch->high, PROT_READ | PROT_WRITE | PROT_EXEC);
}

long patch_begin(struct patch *patch, uintptr_t low, uintptr_t high) {
    uintptr_t mask = ~(page_size() - 1);
    *patch = (struct patch){low & mask, (high + ~mask) & mask, .part_count = 0};
    struct mapping found;
    for (uintptr_t at = patch->low; at < patch->high && maps_find(at, &found); at = found.high) {
        if (found.low >= patch->high || patch->part_count == PATCH_PARTS) break;
        patch->parts[patch->part_count++] = found;
    }
    return open_pages(patch);
}

void patch_end(const struct patch *patch) {
    // Where nothing tells what they were, they are what code is as a rule.
    if (!patch->part_count) system_protect(patch->low, patch->high, PROT_READ | PROT_EXEC);
    for (const struct mapping *part = patch->parts; part < patch->parts + patch->part_count; part++)
        system_protect(part->low > patch->low ? part->low : patch->low,
                       part->high < patch->high ? part->high : patch->high, part->rights);
}

#if defined(__aarch64__)
// (Arm Architecture Reference Manual, B2.2.5, "Concurrent modification and execution of instructions".)
void patch_clean(uintptr_t low, uintptr_t high) {
    uintptr_t sizes;  // of lines, as powers of 2, in words
    __asm__ __volatile__("mrs %0, ctr_el0" : "=r"(sizes));
    uintptr_t data = 4ul << (sizes >> 16 & 15), code = 4ul << (sizes & 15);
    for (uintptr_t at = low & -data; at < high; at += data) __asm__ __volatile__("dc cvau, %0" : : "r"(at) : "memory");
    __asm__ __volatile__("dsb ish" : : : "memory");
    for (uintptr_t at = low & -code; at < high; at += code) __asm__ __volatile__("ic ivau, %0" : : "r"(at) : "memory");
    __asm__ __volatile__("dsb ish\n\tisb" : : : "memory");
}
#endif

int patch_spread(const struct patch *patch) {
    // Sequentially consistent: whatever makes the other processors fetch anew, they find all that was written before.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    // A process has to say once that it will ask. To say it again costs next to nothing, and a fork's child has to.
    if (SYSTEM(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0) == 0 &&
        SYSTEM(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0) == 0)
        return 1;
    // Before Linux 4.16, and where a filter forbids it: whoever takes rights away interrupts all processors that run
    // the process, and the return from an interrupt has the same effect.
    return system_protect(patch->low, patch->high, PROT_READ | PROT_EXEC) == 0 && open_pages(patch) == 0;
}

// Changes words of a module that the dynamic linker has made read-only (PT_GNU_RELRO). The pages are as they were when
// this returns.

void relro_pages(const struct dl_phdr_info *module, uintptr_t *low, uintptr_t *high) {
    uintptr_t mask = ~(page_size() - 1);
    *low = *high = 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + header->p_vaddr;
        // The dynamic linker protects whole pages, and leaves the last one alone if it is not whole.
        if (header->p_type == PT_GNU_RELRO) *low = start & mask, *high = (start + header->p_memsz) & mask;
    }
}

int relro_protection(const struct dl_phdr_info *module, uintptr_t address) {
    uintptr_t low, high;
    int protection = -1;
    relro_pages(module, &low, &high);
    if (address >= low && address < high) return PROT_READ;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        if (header->p_type != PT_LOAD || address < start || address >= end) continue;
        protection = (header->p_flags & PF_R ? PROT_READ : 0) | (header->p_flags & PF_W ? PROT_WRITE : 0) |
                     (header->p_flags & PF_X ? PROT_EXEC : 0);
    }
    return protection;
}

int relro_write(uintptr_t *place, const uintptr_t *words, size_t count, int protection) {
    uintptr_t mask = ~(page_size() - 1), page = (uintptr_t)place & mask;
    uintptr_t end = ((uintptr_t)(place + count) + ~mask) & mask;
    int is_locked = !(protection & PROT_WRITE);
    if (is_locked && system_protect(page, end, PROT_READ | PROT_WRITE)) return 0;
    // Relaxed: each word stands for itself, and points to code that was there before.
    for (size_t i = 0; i < count; i++) __atomic_store_n(&place[i], words[i], __ATOMIC_RELAXED);
    if (is_locked) system_protect(page, end, protection);
    return 1;
}

void fathom_write_word(struct dl_phdr_info *module, uintptr_t *place, uintptr_t word) {
    int protection = relro_protection(module, (uintptr_t)place);
    if (protection >= 0) relro_write(place, &word, 1, protection);
}

FATHOM_WITHOUT_HOOKS_END
