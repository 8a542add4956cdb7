// Notes when each initialiser of each module ran, and when main was called. Does so for the program that the recorder
// started, with hooks or without, if the session asks for it.
//
// The dynamic linker initialises this library first (-z initfirst). Then the addresses of all initialisers are still in
// the modules' arrays (DT_PREINIT_ARRAY, DT_INIT_ARRAY), or in their dynamic sections (DT_INIT). The address
// of a stub replaces them. Each array has a stub of its own, which calls the next initialiser of the array whenever it
// is called. Before main is called, the program's memory is put back as it was.

#include "image.h"

#include "../follow/process.h"
#include "../host/loader.h"
#include "../host/patch.h"
#include "../host/runtime.h"
#include "../host/text.h"
#include "../session/metadata.h"
#include "CTraceRuntime.h"

#include <sys/resource.h>

FATHOM_WITHOUT_HOOKS

#define ARRAY_LIMIT 2048  // arrays that have a stub, in all modules together; a DT_INIT counts as one
#define NOTE_LIMIT 64     // notes that are kept before they are written
#define SLOW_NS 1000000u  // after an initialiser that takes this long, notes are written at once

typedef void initializer(int, char **, char **);

// The initialisers of one array, or the one of a DT_INIT.
struct array {
    uintptr_t *place;
    uintptr_t *words;  // what stood there
    uintptr_t bias;    // what is added to a word to make it an address
    uint32_t count;
    uint32_t next;  // the one that runs next
    int protection;
    uint32_t kind;  // FATHOM_STARTUP_*
};

static struct {
    struct array arrays[ARRAY_LIMIT];
    uint32_t array_count;
    uint32_t pid;  // of the process whose start this is; 0: nothing is noted
    uint32_t skipped;
    uint32_t note_count;
    struct fathom_startup_item notes[NOTE_LIMIT];
    struct fathom_startup_item library;  // what this library took before main
    uintptr_t *first, *end;              // of a static program's initialisers
    fathom_main_function *main;
} startup;

// The stubs. An initialiser is called with three arguments; its stub adds the stub's number as the fourth.
#if defined(__x86_64__)
#define STUB "endbr64\n movl $fathom_stub, %ecx\n jmp fathom_run_initializer\n"
#else
#define STUB "hint #34\n mov w3, #fathom_stub\n b fathom_run_initializer\n"
#endif
__asm__(".pushsection .text, \"ax\", %progbits\n"
        ".balign 16\n"
        ".hidden fathom_stubs\n"
        "fathom_stubs:\n"
        ".cfi_startproc\n"
        ".set fathom_stub, 0\n"
        ".rept 2048\n"
        ".balign 16\n" STUB ".set fathom_stub, fathom_stub + 1\n"
        ".endr\n"
        ".cfi_endproc\n"
        ".popsection\n");
extern const char fathom_stubs[] __attribute__((visibility("hidden")));
#define STUB_SIZE 16u

static void look(struct fathom_startup_moment *moment) {
    struct rusage usage;
    *moment = (struct fathom_startup_moment){.ns = system_monotonic_ns()};
    if (system_usage(&usage)) return;
    moment->minor = (uint64_t)usage.ru_minflt;
    moment->major = (uint64_t)usage.ru_majflt;
    moment->blocks = (uint64_t)usage.ru_inblock;
}

// Whether this is still the process whose start is noted, and whether it still records.
static int is_noted(void) { return startup.pid && runtime_records() && startup.pid == system_process_id(); }

static void write_notes(void) {
    for (uint32_t i = 0; i < startup.note_count; i++) {
        struct part parts[] = {ITEM_BODY(startup.notes[i])};
        metadata_append(FATHOM_ITEM_STARTUP, parts, 1);
    }
    startup.note_count = 0;
}

static void note(const struct fathom_startup_item *item) {
    startup.notes[startup.note_count++] = *item;
    if (startup.note_count == NOTE_LIMIT || item->end.ns - item->begin.ns >= SLOW_NS) write_notes();
}

// All stubs jump here.
__attribute__((used, visibility("hidden"))) void fathom_run_initializer(int count, char **arguments, char **environment,
                                                                        uint32_t stub) {
    struct array *array = &startup.arrays[stub];
    uintptr_t function = array->words[array->next] + array->bias;
    if (array->next + 1 < array->count) array->next++;
    struct fathom_startup_item item = {.kind = array->kind, .function = function};
    int is_first = is_noted();
    if (is_first) look(&item.begin);
    ((initializer *)function)(count, arguments, environment);
    if (!is_first || !is_noted()) return;
    look(&item.end);
    note(&item);
}

// Replaces all addresses in an array by the address of a stub.
static void take(const struct dl_phdr_info *module, uintptr_t *place, size_t count, uintptr_t bias, uint32_t kind) {
    int protection = relro_protection(module, (uintptr_t)place);
    if (!count || protection < 0 || startup.array_count == ARRAY_LIMIT || count > UINT32_MAX) {
        startup.skipped += count != 0;
        return;
    }
    // Nobody calls 0 or -1, which older tools leave in arrays. Such an array is left alone.
    for (size_t i = 0; i < count; i++) {
        if (place[i] + 1 > 1) continue;
        startup.skipped++;
        return;
    }
    uintptr_t *words = system_allocate(2 * count * sizeof *words);
    if (!words) return;
    uintptr_t stub = (uintptr_t)fathom_stubs + STUB_SIZE * startup.array_count;
    for (size_t i = 0; i < count; i++) {
        words[i] = place[i];
        words[count + i] = stub - bias;
    }
    struct array *array = &startup.arrays[startup.array_count];
    *array = (struct array){place, words, bias, (uint32_t)count, 0, protection, kind};
    if (relro_write(place, words + count, count, protection)) startup.array_count++;
    else startup.skipped++;
}

static int take_module(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    uintptr_t own = (uintptr_t)fathom_stubs, bias = info->dlpi_addr;
    ElfW(Dyn) *dynamic = NULL;
    if (startup.first) {
        take(info, startup.first, (size_t)(startup.end - startup.first), 0, FATHOM_STARTUP_INITIALIZER);
        return 1;  // there is no other module
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && own - bias - header->p_vaddr < header->p_memsz) return 0;
        if (header->p_type == PT_DYNAMIC) dynamic = (ElfW(Dyn) *)(bias + header->p_vaddr);
    }
    uintptr_t *init = NULL, arrays[2] = {0, 0}, sizes[2] = {0, 0};
    for (ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_INIT) init = (uintptr_t *)&entry->d_un.d_ptr;
        if (entry->d_tag == DT_PREINIT_ARRAY) arrays[0] = bias + entry->d_un.d_ptr;
        if (entry->d_tag == DT_PREINIT_ARRAYSZ) sizes[0] = entry->d_un.d_val;
        if (entry->d_tag == DT_INIT_ARRAY) arrays[1] = bias + entry->d_un.d_ptr;
        if (entry->d_tag == DT_INIT_ARRAYSZ) sizes[1] = entry->d_un.d_val;
    }
    if (init && *init) take(info, init, 1, bias, FATHOM_STARTUP_INITIALIZER);
    for (int i = 0; i < 2; i++) {
        uint32_t kind = i ? FATHOM_STARTUP_INITIALIZER : FATHOM_STARTUP_PREINITIALIZER;
        if (arrays[i]) take(info, (uintptr_t *)arrays[i], sizes[i] / sizeof(uintptr_t), 0, kind);
    }
    return 0;
}

static void give_all_back(void) {
    for (uint32_t i = 0; i < startup.array_count; i++) {
        struct array *array = &startup.arrays[i];
        relro_write(array->place, array->words, array->count, array->protection);
    }
}

// Comes before everything else that this library does in the process.
__attribute__((constructor(101))) static void entered(int count, char **arguments, char **environment) {
    (void)count, (void)arguments;
    if (startup.library.begin.ns) return;
    // A static program has this constructor even where it is not recorded.
    while (*environment && !text_starts_with(*environment, "FATHOM_SESSION=")) environment++;
    if (*environment) look(&startup.library.begin);
}

void fathom_note_initializers(uintptr_t *first, uintptr_t *end, char **environment) {
    entered(0, NULL, environment);
    startup.first = first;
    startup.end = end;
}

void startup_begin(void) {
    if (runtime.state != STATE_OPEN || !(runtime.head.tells & FATHOM_TELLS_STARTUP)) return;
    // Programs that this one starts are not looked at.
    if (fathom_load32(&runtime.buffers->process_count) || !runtime_ready()) return;
    startup.pid = runtime.pid;
    loader_modules(take_module, NULL, LOADER_PATIENCE);
    startup.library.kind = FATHOM_STARTUP_RUNTIME;
    startup.library.skipped = startup.skipped;
    look(&startup.library.end);
    note(&startup.library);
}

void startup_end(void) {
    if (is_noted()) write_notes();
}

static int call_main(int count, char **arguments, char **environment) {
    struct fathom_startup_item item = {.kind = FATHOM_STARTUP_MAIN, .function = (uintptr_t)startup.main};
    int notes = is_noted();
    if (notes) look(&item.begin);
    // In a program that has confined itself, the stubs' addresses stay: the kernel may end it for changing protections.
    if (startup.array_count && !confine_unnoted()) give_all_back();
    if (notes) {
        write_notes();
        look(&item.end);
        note(&item);
        write_notes();
    }
    __attribute__((musttail)) return startup.main(count, arguments, environment);
}

fathom_main_function *fathom_note_main(fathom_main_function *main) {
    // A static program's C library asks before the session is open.
    if (startup.main || !main || (!startup.pid && runtime.state != STATE_NEW)) return main;
    startup.main = main;
    return call_main;
}

FATHOM_WITHOUT_HOOKS_END
