// Changes words of a module that the dynamic linker has made read-only (PT_GNU_RELRO). The pages are as they were when
// this returns.

#include "relro.h"

#include <sys/auxv.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

static uintptr_t page_size(void) {
    static uintptr_t size;
    if (!size) size = getauxval(AT_PAGESZ);
    return size ? size : PAGE_SIZE;
}

int relro_protection(const struct dl_phdr_info *module, uintptr_t address) {
    uintptr_t mask = ~(page_size() - 1);
    int protection = -1;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        // The dynamic linker protects whole pages, and leaves the last one alone if it is not whole.
        if (header->p_type == PT_GNU_RELRO && address >= (start & mask) && address < (end & mask)) return PROT_READ;
        if (header->p_type != PT_LOAD || address < start || address >= end) continue;
        protection = (header->p_flags & PF_R ? PROT_READ : 0) | (header->p_flags & PF_W ? PROT_WRITE : 0) |
                     (header->p_flags & PF_X ? PROT_EXEC : 0);
    }
    return protection;
}

static long protect(uintptr_t page, size_t size, int protection) {
    return SYSTEM(mprotect, page, size, protection, 0, 0, 0);
}

int relro_write(uintptr_t *place, const uintptr_t *words, size_t count, int protection) {
    uintptr_t mask = ~(page_size() - 1), page = (uintptr_t)place & mask;
    size_t size = (((uintptr_t)(place + count) + ~mask) & mask) - page;
    int is_locked = !(protection & PROT_WRITE);
    if (is_locked && protect(page, size, PROT_READ | PROT_WRITE)) return 0;
    // Relaxed: each word stands for itself, and points to code that was there before.
    for (size_t i = 0; i < count; i++) __atomic_store_n(&place[i], words[i], __ATOMIC_RELAXED);
    if (is_locked) protect(page, size, protection);
    return 1;
}

void fathom_write_word(struct dl_phdr_info *module, uintptr_t *place, uintptr_t word) {
    int protection = relro_protection(module, (uintptr_t)place);
    if (protection >= 0) relro_write(place, &word, 1, protection);
}

FATHOM_WITHOUT_HOOKS_END
