// Allocators that bring `operator new` along, as jemalloc, tcmalloc and mimalloc do: theirs does not call malloc, and
// so nothing would be known of what it allocates.
//
// This library defines no operators by their names, because it stands before all others: a library that is loaded later
// and brings its own along, for itself alone, would get these. So the modules' words are changed through which they
// call the allocator's operators, and only if that is what the loader has bound them to.

#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdlib.h>

#include "CTraceRuntimeHostSymbols.h"
#include "memory.h"

FATHOM_WITHOUT_HOOKS

#if defined(__x86_64__)
#define SLOT R_X86_64_JUMP_SLOT
#define DATA R_X86_64_GLOB_DAT
#else
#define SLOT R_AARCH64_JUMP_SLOT
#define DATA R_AARCH64_GLOB_DAT
#endif

__thread uint32_t fathom_blocks_told;

// ---- the operators: what the program calls by each name, which is NULL where nothing needs it

#define ALLOCATES(name, parameters, arguments)                                                                         \
    extern void *name parameters __attribute__((weak));                                                                \
    static void *seen_##name parameters {                                                                              \
        __typeof__(&name) real = name;                                                                                 \
        __asm__("" : "+r"(real)); /* a branch on aarch64 does not lead to what may be missing */                       \
        if (!IS_ASKED_FOR) JUMP real arguments;                                                                        \
        uint32_t told = fathom_blocks_told;                                                                            \
        void *block = real arguments;                                                                                  \
        if (fathom_blocks_told == told) tell_allocated(block, size);                                                   \
        return block;                                                                                                  \
    }
#define FREES(name, parameters, arguments)                                                                             \
    extern void name parameters __attribute__((weak));                                                                 \
    static void seen_##name parameters {                                                                               \
        __typeof__(&name) real = name;                                                                                 \
        __asm__("" : "+r"(real));                                                                                      \
        if (IS_ASKED_FOR && block) fathom_note_block(FATHOM_FREED, block, 0, 0);                                       \
        JUMP real arguments;                                                                                           \
    }
// clang-format off
#define OPERATORS(ALLOCATES, FREES)                                                                                    \
    ALLOCATES(_Znwm, (size_t size), (size))                                                                            \
    ALLOCATES(_Znam, (size_t size), (size))                                                                            \
    ALLOCATES(_ZnwmRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))                                \
    ALLOCATES(_ZnamRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))                                \
    ALLOCATES(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))                                \
    ALLOCATES(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))                                \
    ALLOCATES(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow),                \
              (size, alignment, nothrow))                                                                              \
    ALLOCATES(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow),                \
              (size, alignment, nothrow))                                                                              \
    FREES(_ZdlPv, (void *block), (block))                                                                              \
    FREES(_ZdaPv, (void *block), (block))                                                                              \
    FREES(_ZdlPvm, (void *block, size_t size), (block, size))                                                          \
    FREES(_ZdaPvm, (void *block, size_t size), (block, size))                                                          \
    FREES(_ZdlPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))                                  \
    FREES(_ZdaPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))                                  \
    FREES(_ZdlPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))                                  \
    FREES(_ZdaPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))                                  \
    FREES(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment), (block, size, alignment))              \
    FREES(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment), (block, size, alignment))              \
    FREES(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow),                   \
          (block, alignment, nothrow))                                                                                 \
    FREES(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow),                   \
          (block, alignment, nothrow))
// clang-format on
OPERATORS(ALLOCATES, FREES)

#define ROW(name, parameters, arguments) {#name, (uintptr_t)name, (uintptr_t)seen_##name},
static const struct {
    const char *name;
    uintptr_t real, seen;
} operators[] = {OPERATORS(ROW, ROW)};
#define COUNT (sizeof operators / sizeof *operators)

// ---- the allocator's library

// Relaxed: both are found before any word leads here, and never change.
static uintptr_t low, high;

int fathom_is_allocator(const void *address) {
    uintptr_t start = __atomic_load_n(&low, __ATOMIC_RELAXED);
    return start && (uintptr_t)address - start < __atomic_load_n(&high, __ATOMIC_RELAXED) - start;
}

static int find_allocator(struct dl_phdr_info *module, size_t size, void *result) {
    (void)size, (void)result;
    uintptr_t from, to, allocates = (uintptr_t)REAL(malloc);
    symbols_span(module, &from, &to);
    if (allocates < from || allocates >= to) return 0;
    // What the C library maps for its own blocks is not seen, and what it maps for others is.
    if ((uintptr_t)REAL(dl_iterate_phdr) - from < to - from) return 1;
    __atomic_store_n(&high, to, __ATOMIC_RELAXED);
    __atomic_store_n(&low, from, __ATOMIC_RELAXED);
    return 1;
}

// ---- what leads there

static int is_same(const char *text, const char *other) {
    while (*text && *text == *other) text++, other++;
    return *text == *other;
}

static void point(struct dl_phdr_info *module, uintptr_t *place, const char *name, int is_unbound) {
    uintptr_t now = __atomic_load_n(place, __ATOMIC_RELAXED);
    for (size_t i = 0; i < COUNT; i++) {
        if (!operators[i].real || !fathom_is_allocator((void *)operators[i].real)) continue;
        if ((now != operators[i].real && !is_unbound) || !is_same(name, operators[i].name)) continue;
        fathom_write_word(module, place, operators[i].seen);
        return;
    }
}

static int see_operators(struct dl_phdr_info *module, size_t size, void *result) {
    (void)size, (void)result;
    const ElfW(Dyn) *dynamic = symbols_dynamic(module->dlpi_addr, module->dlpi_phdr, module->dlpi_phnum);
    uintptr_t from, to;
    symbols_span(module, &from, &to);
    if (!low || !dynamic || fathom_is_allocator(dynamic) || (uintptr_t)see_operators - from < to - from) return !low;
    struct symbols in = symbols_of(module->dlpi_addr, dynamic);
    if (!in.symbols || !in.names) return 0;
    for (int table = 0; table < 2; table++) {
        for (size_t i = 0; in.relocations[table] && i < in.relocation_count[table]; i++) {
            const ElfW(Rela) *relocation = &in.relocations[table][i];
            uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
            if (type != SLOT && type != DATA) continue;
            const ElfW(Sym) *symbol = &in.symbols[ELF64_R_SYM(relocation->r_info)];
            const char *name = in.names + symbol->st_name;
            if (name[0] != '_' || name[1] != 'Z') continue;
            // A word that was not bound yet leads to the module's own code. It is going to be bound to what this
            // library itself was bound to.
            uintptr_t *place = (uintptr_t *)(module->dlpi_addr + relocation->r_offset);
            point(module, place, name, type == SLOT && *place - from < to - from);
        }
    }
    return 0;
}

// ---- what the runtime asks of the library

static int all_modules(fathom_look *look, void *result) { return REAL(dl_iterate_phdr)(look, result); }

struct fathom_image fathom_image = {
    1,
    all_modules,
    fathom_memory_is_seen,
    find_allocator,
    see_operators,
    fathom_traps_begin,
    fathom_library_stubs,
    fathom_detour_entry,
    fathom_hook_enters,
    fathom_hook_exits,
    NULL,
};

FATHOM_WITHOUT_HOOKS_END
