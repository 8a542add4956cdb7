// What programs with a sanitizer need, because this library comes before the sanitizer's.
//
// The shared library of the address sanitizer ends a program in which another library comes before it, unless an option
// says that this is meant. Its functions still come before the C library's, which is what that check is for: ours that
// stand before them go on to them. The sanitizer asks a function of the program for options, before it reads
// ASAN_OPTIONS (https://github.com/google/sanitizers/wiki/AddressSanitizerFlags). So the environment stays as it is,
// whoever starts the program.

#define _GNU_SOURCE
#include "CTraceRuntimeHostSymbols.h"
#include "behind.h"

FATHOM_WITHOUT_HOOKS

#define NAME "__asan_default_options"
#define OPTION "verify_asan_link_order=0"
#define ROOM 8192u  // bytes of options

typedef const char *options_function(void);

// The C library's functions of texts are the sanitizer's here, and begin it, or need what it has not set up yet.
static int begins(const char *text, const char *start) {
    while (*start && *text == *start) text++, start++;
    return !*start;
}

static size_t size_of(const char *text) {
    size_t size = 0;
    while (size < ROOM && text[size]) size++;
    return size;
}

// The program's own function, where it has one; then no other is asked. Written by the constructor only.
static options_function *programs;

// Returns our option and those of `others`, which may be NULL. The sanitizer asks once, when it begins, and keeps the
// text.
static const char *with_ours(options_function *others) {
    static char text[ROOM] = OPTION;
    const char *theirs = others ? others() : NULL;
    size_t size = theirs ? size_of(theirs) : 0;
    if (!size) return text;
    if (size > ROOM - sizeof OPTION - 1) return theirs;
    text[sizeof OPTION - 1] = ':';
    for (size_t i = 0; i <= size; i++) text[sizeof OPTION + i] = theirs[i];
    return text;
}

static const char *options(void) { return with_ours((options_function *)fathom_first_definition(NAME, 1)); }

__attribute__((visibility("default"), alias("options"))) options_function __asan_default_options;

static const char *in_place_of_programs(void) { return with_ours(programs); }

static int is_sanitizer(const char *path) {
    const char *name = path;
    for (const char *letter = path; letter && *letter; letter++)
        if (*letter == '/') name = letter + 1;
    return name && (begins(name, "libasan.so") || begins(name, "libclang_rt.asan"));
}

// In the sanitizer's library, the slot through which it calls the program's function calls ours.
static int point_slot(struct dl_phdr_info *module, size_t size, void *argument) {
    (void)size, (void)argument;
    if (!is_sanitizer(module->dlpi_name)) return 0;
    struct symbols in =
        symbols_of(module->dlpi_addr, symbols_dynamic(module->dlpi_addr, module->dlpi_phdr, module->dlpi_phnum));
    for (size_t i = 0; in.symbols && in.names && in.relocations[0] && i < in.relocation_count[0]; i++) {
        const ElfW(Rela) *entry = &in.relocations[0][i];
        if (!begins(in.names + in.symbols[ELF64_R_SYM(entry->r_info)].st_name, NAME)) continue;
        uintptr_t *slot = (uintptr_t *)(module->dlpi_addr + entry->r_offset);
        fathom_write_word(module, slot, (uintptr_t)in_place_of_programs);
    }
    return 0;
}

// Comes before the sanitizer begins: this library is the first to be initialised.
__attribute__((constructor(102))) static void take_place(void) {
    programs = (options_function *)fathom_first_definition(NAME, 0);
    if (programs && programs != options) fathom_image.all_modules(point_slot, NULL);
}

FATHOM_WITHOUT_HOOKS_END
