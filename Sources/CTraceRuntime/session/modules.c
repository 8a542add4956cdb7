// Which ELF modules are mapped where, over time. The list is compared with what was known before every unloading, after
// every loading and at the end. Addresses cannot be reused between two unloadings, so this is enough to resolve any
// address by the time at which it was seen.

#include "modules.h"

#include "../host/array.h"
#include "../host/runtime.h"
#include "CTraceRuntimeHostSymbols.h"
#include "await.h"
#include "detours.h"
#include "functions.h"
#include "library_slots.h"
#include "metadata.h"
#include "sleds.h"

#include <fcntl.h>
#include <link.h>

FATHOM_WITHOUT_HOOKS

struct module {
    uintptr_t bias, low, high;
    struct texts texts;
    size_t name;  // where in `text`; the build-id stands behind it
    uint32_t name_size, build_id_size;
    uint32_t seen;
};

// Names and notes are copied, because the dynamic linker's names and a module's own notes are gone when the module is.
struct modules {
    struct array list, text;
    uint64_t version;  // dlpi_adds + dlpi_subs
};

// One of the two lists is the known one. The other takes its place by a single store, because a fork may leave a child
// with the state of any moment.
static struct modules lists[2];
static uint32_t which;

static struct modules *known(void) { return &lists[which]; }

static void release(const struct modules *modules) {
    array_release(&modules->list);
    array_release(&modules->text);
}

static struct module *module_at(const struct modules *modules, size_t index) {
    return (struct module *)modules->list.bytes + index;
}

static size_t count_of(const struct modules *modules) { return modules->list.used / sizeof(struct module); }

// The build-id in a segment of notes, or NULL.
static const char *find_build_id(uintptr_t notes, size_t size, uint32_t *build_id_size) {
    // An ELF note is its name's size, its content's size and its type (3 is a build-id), then the name and the content,
    // each padded to 4.
    while (size >= 12) {
        const uint32_t *note = (const uint32_t *)notes;
        size_t name = (note[0] + 3ul) & ~3ul, content = (note[1] + 3ul) & ~3ul;
        if (12 + name + content > size) return NULL;
        if (note[2] == 3 && note[0] == 4 && __builtin_memcmp(note + 3, "GNU", 4) == 0 && note[1] <= 64) {
            *build_id_size = note[1];
            return (const char *)notes + 12 + name;
        }
        notes += 12 + name + content;
        size -= 12 + name + content;
    }
    return NULL;
}

static void add(struct modules *modules, struct module module, const char *name, const char *build_id) {
    while (name[module.name_size]) module.name_size++;
    module.name = modules->text.used;
    char *text = array_extend(&modules->text, module.name_size + module.build_id_size + 1);  // + 1: the size is never 0
    struct module *added = text ? array_extend(&modules->list, sizeof module) : NULL;
    if (!added) return;
    __builtin_memcpy(text, name, module.name_size);
    if (build_id) __builtin_memcpy(text + module.name_size, build_id, module.build_id_size);
    *added = module;
}

static int collect(struct dl_phdr_info *info, size_t size, void *result) {
    struct modules *modules = result;
    modules->version = loader_version(info, size);
    if (modules->version && modules->version == known()->version && known()->list.used)
        return 1;  // nothing has changed
    struct module module = {.bias = info->dlpi_addr};
    symbols_span(info, &module.low, &module.high);
    const char *build_id = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            if (header->p_flags & PF_X && module.texts.count < TEXT_LIMIT)
                module.texts.parts[module.texts.count++] = (struct text){start, start + header->p_filesz};
        } else if (header->p_type == PT_NOTE && !build_id) {
            build_id = find_build_id(start, header->p_memsz, &module.build_id_size);
        }
    }
    if (module.high) add(modules, module, info->dlpi_name, build_id);
    return 0;
}

static const char *text_of(const struct modules *modules, const struct module *module) {
    return modules->text.bytes + module->name;
}

// Options name functions, and those of this module are not known.
static void tell_unnamed(const struct module *module) {
    struct fathom_unnamed_item item = {.ticks = now_ticks(), .low = module->low};
    struct part parts[] = {ITEM_BODY(item)};
    metadata_append(FATHOM_ITEM_UNNAMED, parts, 1);
}

static char path[8192];  // under LOCK_MODULES; the thread's stack may be small

// Writes the path of a module's file to `path`, and returns its size.
static size_t write_path(const struct modules *modules, const struct module *module, int is_program) {
    const char *name = text_of(modules, module);
    size_t size = 0;
    if (is_program) return system_program_path(path, sizeof path);
    if (name[0] != '/') {
        long got = system_directory(path, 4096);
        if (got > 1) {
            size = (size_t)got;
            path[size - 1] = '/';
        }
    }
    for (size_t i = 0; i < module->name_size && size < sizeof path; i++) path[size++] = name[i];
    return size;
}

// Finds which functions of the module options name.
static void name_functions(const struct modules *modules, const struct module *module, size_t path_size) {
    const char *build_id = text_of(modules, module) + module->name_size;
    if (!functions_of_module(module->bias, &module->texts, build_id, module->build_id_size, path, path_size))
        tell_unnamed(module);
}

static void tell_module(const struct modules *modules, const struct module *module, int is_program) {
    const char *name = text_of(modules, module);
    size_t size = write_path(modules, module, is_program);
    struct fathom_module_item item = {
        // The modules of the first scan were there all along. That holds for a child that was forked meanwhile, too.
        .seen_ticks = known()->list.used ? now_ticks() : runtime.start_ticks,
        .bias = module->bias,
        .low = module->low,
        .high = module->high,
        .build_id_size = module->build_id_size,
        .path_size = (uint32_t)size,
    };
    struct part parts[] = {ITEM_BODY(item), {name + module->name_size, module->build_id_size}, {path, size}};
    metadata_append(FATHOM_ITEM_MODULE, parts, 3);
    name_functions(modules, module, size);
    detours_tell();
}

static void tell_unloaded(const struct module *module) {
    struct fathom_unload_item item = {.ticks = now_ticks(), .low = module->low};
    struct part parts[] = {ITEM_BODY(item)};
    metadata_append(FATHOM_ITEM_UNLOAD, parts, 1);
}

// Whether a module that was found is a known one.
static int same(const struct modules *found, const struct module *a, const struct module *b) {
    return a->low == b->low && a->high == b->high && a->name_size == b->name_size &&
           a->build_id_size == b->build_id_size &&
           __builtin_memcmp(text_of(found, a), text_of(known(), b), a->name_size + a->build_id_size) == 0;
}

// The kernel's vDSO is a module without a file. Its name has no slash; all other names have one.
static int is_file(const struct modules *modules, const struct module *module) {
    for (uint32_t i = 0; i < module->name_size; i++)
        if (text_of(modules, module)[i] == '/') return 1;
    return 0;
}

static void merge(struct modules *found) {
    size_t known_count = count_of(known()), found_count = count_of(found);
    for (size_t i = 0; i < known_count; i++) module_at(known(), i)->seen = 0;
    for (size_t i = 0; i < found_count; i++)
        for (size_t j = 0; j < known_count; j++)
            if (!module_at(known(), j)->seen && same(found, module_at(found, i), module_at(known(), j)))
                module_at(found, i)->seen = module_at(known(), j)->seen = 1;
    for (size_t j = 0; j < known_count; j++)
        if (!module_at(known(), j)->seen) {
            tell_unloaded(module_at(known(), j));
            functions_forget(module_at(known(), j)->low, module_at(known(), j)->high);
            sleds_forget(module_at(known(), j)->low, module_at(known(), j)->high);
        }
    for (size_t i = 0; i < found_count; i++) {
        const struct module *module = module_at(found, i);
        if (!module->seen && (i == 0 || is_file(found, module))) tell_module(found, module, i == 0);
    }
}

int modules_scan(uint64_t patience) {
    if (!loader_has_stack()) {
        runtime.modules_stale = 1;
        return 0;
    }
    uint64_t signals = system_block_signals();
    runtime.modules_stale = 0;
    struct modules found = {0};
    int is_had = loader_modules(collect, &found, patience) >= 0;
    if (is_had && fathom_memory_on) {
        loader_modules(fathom_image.find_allocator, NULL, patience);
        loader_modules(fathom_image.see_operators, NULL, patience);
    }
    if (!is_had) runtime.modules_stale = 1;
    struct modules gone = found;
    if (found.list.used) {
        uint64_t blocked = lock_take(LOCK_MODULES);
        if (found.version >= known()->version) {
            merge(&found);
            gone = *known();
            lists[1 - which] = found;
            // Release is for a fork's child: other threads look only while they hold LOCK_MODULES.
            __atomic_store_n(&which, 1 - which, __ATOMIC_RELEASE);
        }
        lock_give(LOCK_MODULES, blocked);
        // What options say of the functions of new modules is known now.
        sleds_scan();
        // The recorder opens new modules' files before others take their places.
        requests_wake();
    }
    release(&gone);
    // Whoever attaches looks at the slots first.
    if (!runtime.is_joining) library_slots_scan();
    system_restore_signals(signals);
    return is_had;
}

void modules_forget(void) {
    release(known());
    lists[0] = lists[1] = (struct modules){0};
}

int modules_change_functions(uint32_t number) {
    uint64_t signals = lock_take(LOCK_MODULES);
    int changes = functions_begin_change(number);
    for (size_t i = 0; changes && i < count_of(known()); i++) {
        const struct module *module = module_at(known(), i);
        if (i == 0 || is_file(known(), module)) name_functions(known(), module, write_path(known(), module, i == 0));
    }
    if (changes) functions_end_change();
    lock_give(LOCK_MODULES, signals);
    return changes;
}

int modules_hold(const uintptr_t *addresses, uint32_t count) {
    uint64_t signals = lock_take(LOCK_MODULES);
    uint32_t held = 0;
    for (; held < count; held++) {
        const struct module *module = module_at(known(), 0), *end = module + count_of(known());
        while (module < end && addresses[held] - module->low >= module->high - module->low) module++;
        if (module == end) break;
    }
    lock_give(LOCK_MODULES, signals);
    return held == count;
}

FATHOM_WITHOUT_HOOKS_END
