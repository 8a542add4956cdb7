// Finds the slots of the global offset tables, and makes them lead to stubs.
//
//   JUMP_SLOT   The dynamic linker has bound it, or binds it at its first call (lazily). In the latter case the stub
//               goes to the function that the dynamic linker would find, where that is certain, and the slot is never
//               bound. Else the slot is left alone until it is.
//   GLOB_DAT    Code may read it, to compare functions or to pass them on. So only those are taken that all code of the
//               module calls or jumps through (session/library_uses.c), as code does that was compiled with -fno-plt.
//
// Calls of what has hooks, or sleds, of its own are left to these, and those of sanitizers alone. So are the calls that
// the C library, the dynamic linker and the unwinder make: the runtime itself calls these.

#include "library_slots.h"

#include "../host/array.h"
#include "../host/loader.h"
#include "../host/patch.h"
#include "../host/runtime.h"
#include "../host/signing.h"
#include "../host/text.h"
#include "CTraceRuntimeHostSymbols.h"
#include "detours.h"
#include "sled_module.h"

#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

struct library_call library_calls[LIBRARY_CALL_COUNT];

// The image's pool of stubs; 0: it has none.
static uintptr_t stubs(void) { return (uintptr_t)fathom_image.library_stubs; }
static uintptr_t stub_of(const struct library_call *call) {
    return stubs() + (uintptr_t)(call - library_calls) * LIBRARY_STUB_SIZE;
}
static int is_stub(uintptr_t address) { return address - stubs() < LIBRARY_CALL_COUNT * LIBRARY_STUB_SIZE; }

// ---- what machines differ in

#if defined(__x86_64__)

#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define DATA_SLOT R_X86_64_GLOB_DAT

// Whether code has a slot bound, that of the module's relocation with this number.
static int binds(const uint8_t *code, uint32_t number) {
    uint32_t pushed;
    code += fathom_detour_place(code, 4);
    __builtin_memcpy(&pushed, code + 1, sizeof pushed);
    return code[0] == 0x68 && pushed == number;
}

static int is_variant(const ElfW(Sym) * symbol) { return (void)symbol, 0; }
static int signs_slots(const ElfW(Dyn) * entry) { return (void)entry, 0; }

#else

#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define DATA_SLOT R_AARCH64_GLOB_DAT

// All slots of a module lead to the same instructions then, which find out by x16 which one it was. They begin with
// `stp x16, x30, [sp, #-16]!`, or with `bti c` before that.
static int binds(const uint8_t *code, uint32_t number) {
    const uint32_t *instruction = (const uint32_t *)code;
    (void)number;
    if ((uintptr_t)code % sizeof *instruction) return 0;
    return instruction[*instruction == 0xd503245f] == 0xa9bf7bf0;
}

// Whether a function takes more registers than the calling convention says, as those for vectors do.
static int is_variant(const ElfW(Sym) * symbol) { return (symbol->st_other & 0x80) != 0; }  // STO_AARCH64_VARIANT_PCS

// Whether the module's slots hold signed addresses (pointer authentication), which we cannot make.
static int signs_slots(const ElfW(Dyn) * entry) {
    for (; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == 0x70000003) return 1;  // DT_AARCH64_PAC_PLT
    return 0;
}

#endif

// ---- the modules there are

struct loaded {
    uintptr_t low, high;
    struct symbols symbols;
    uint8_t is_runtime;
    uint8_t keeps_slots;  // its own slots are left alone
    uint8_t is_left;      // calls of its functions are
    uint8_t has_hooks;    // 1: it has; 2: it has none; 0: nobody has asked yet
};
struct all {
    struct array modules;  // struct loaded, in the order of the loader's list
    struct loaded *loaded, *end, *runtime;
    unsigned long long version;  // of the list
    int is_late;                 // a module is not finished, or the list has changed meanwhile
};

// How many modules the program was started with. They stand at the beginning of the list, and stay there. 0 where that
// is not known, and where the environment changes how functions are found, or has it watched.
static size_t start_count;
static int is_starting;

void library_slots_begin(char **environment) {
    static const char names[] = "LD_AUDIT=\0LD_PROFILE=\0LD_DYNAMIC_WEAK=\0LD_BIND_NOT=\0";
    is_starting = 1;
    for (; *environment; environment++)
        for (const char *name = names; *name; name = text_next(name))
            if (text_starts_with(*environment, name)) is_starting = 0;
}

static int holds(const struct loaded *module, uintptr_t address) {
    return address - module->low < module->high - module->low;
}

// Whether code may not be read, so that nothing can be said of its slots.
static int hides_code(const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & (PF_R | PF_X)) == PF_X) return 1;
    return 0;
}

static int collect(struct dl_phdr_info *info, size_t size, void *argument) {
    struct all *all = argument;
    all->version = loader_version(info, size);
    struct loaded *module = array_extend(&all->modules, sizeof *module);
    if (!module) return 1;
    const ElfW(Dyn) *dynamic = symbols_dynamic(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    *module = (struct loaded){.symbols = symbols_of(info->dlpi_addr, dynamic)};
    const char *name = module->symbols.own_name;
    symbols_span(info, &module->low, &module->high);
    module->is_runtime = holds(module, (uintptr_t)&runtime);
    module->keeps_slots =
        module->is_runtime || !dynamic || (name && library_is_system(name)) || hides_code(info) || signs_slots(dynamic);
    module->is_left = name && library_is_sanitizer(name);
    return 0;
}

static struct loaded *module_at(const struct all *all, uintptr_t address) {
    for (struct loaded *module = all->loaded; module < all->end; module++)
        if (holds(module, address)) return module;
    return NULL;
}

static int is_of_start(const struct all *all, const struct loaded *module) {
    return (size_t)(module - all->loaded) < start_count;
}

static int has_hooks(struct loaded *module) {
    static const char hooks[] = "__cyg_profile_func_enter\0fathom_function_enter\0fathom_swift_enter\0";
    if (module->has_hooks) return module->has_hooks == 1;
    module->has_hooks = 2;
    for (const char *hook = hooks; *hook; hook = text_next(hook))
        if (symbols_bound(&module->symbols, hook)) module->has_hooks = 1;
    for (uint32_t i = 0; sled_module_known(i); i++)
        if (sled_module_known(i)->low == module->low && sled_module_known(i)->is_open) module->has_hooks = 1;
    return module->has_hooks == 1;
}

// ---- the slots that are known, all under LOCK_SLOTS

// Slots of one module: a stretch of `library_calls`. `low` is 0 where the module is gone, and another may have it.
#define STRETCH_LIMIT 4096u
static struct stretch_of_calls {
    uintptr_t low, high;
    uint32_t first, count, room;
    uint32_t has_unbound;  // some of the module's slots were left alone until they are bound
} stretches[STRETCH_LIMIT];
static uint32_t stretch_count, call_count;

static struct stretch_of_calls *stretch_for(uint32_t room) {
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++)
        if (!stretch->low && stretch->room >= room && stretch->room <= room * 2) return stretch;
    if (stretch_count == STRETCH_LIMIT || LIBRARY_CALL_COUNT - call_count < room) return NULL;
    struct stretch_of_calls *stretch = &stretches[stretch_count++];
    *stretch = (struct stretch_of_calls){.first = call_count, .room = room};
    call_count += room;
    return stretch;
}

static int holds_stubs(const struct stretch_of_calls *stretch) {
    const struct library_call *call = &library_calls[stretch->first], *end = call + stretch->count;
    while (call < end && *call->slot != stub_of(call) && !call->is_to_choose) call++;
    return call < end || !stretch->count;
}

// Of the module that the loader tells of, which is there: forgets slots of another one that was there before.
static void forget_replaced(const struct loaded *module, const struct dl_phdr_info *info) {
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++) {
        if (stretch->low != module->low) continue;
        int is_same = stretch->high == module->high;
        for (uint32_t i = 0; is_same && i < stretch->count; i++) {
            int protection = relro_protection(info, (uintptr_t)library_calls[stretch->first + i].slot);
            is_same = protection >= 0 && protection & PROT_READ;
        }
        if (!is_same || !holds_stubs(stretch)) stretch->low = 0;
    }
}

// Forgets the slots of modules that are gone, of which nothing is read.
static void forget_gone(const struct all *all) {
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++) {
        const struct loaded *module = stretch->low ? module_at(all, stretch->low) : NULL;
        if (!module || module->low != stretch->low) stretch->low = 0;
    }
}

// ---- which function a slot leads to

// The first module that defines what a slot is to lead to, apart from the runtime; and how many do.
static struct loaded *find_owner(struct all *all, const struct loaded *from, uint32_t index, const ElfW(Sym) * *symbol,
                                 int *is_default, uint32_t *count) {
    struct loaded *owner = NULL;
    *symbol = NULL;
    *count = 0;
    for (struct loaded *module = all->loaded; module < all->end; module++) {
        int is_its_default;
        const ElfW(Sym) *found =
            module->is_runtime ? NULL : symbols_definition(&module->symbols, &from->symbols, index, &is_its_default);
        if (!found) continue;
        if (!(*count)++) *symbol = found, *is_default = is_its_default, owner = module;
    }
    return owner;
}

// Whether the dynamic linker would find this very function for a slot, as do_lookup_x of glibc does: the first one in
// the order of the modules, where neither versions nor the way that a module was linked or loaded leave it a choice.
static int is_certain(const struct all *all, const struct loaded *from, uint32_t index, const struct loaded *owner,
                      const ElfW(Sym) * symbol, uint32_t count) {
    uint32_t binding = ELF64_ST_BIND(symbol->st_info), type = ELF64_ST_TYPE(symbol->st_info);
    return is_of_start(all, owner) && (is_of_start(all, from) || count == 1) && !from->symbols.is_symbolic &&
           (type == STT_FUNC || type == STT_GNU_IFUNC) && (binding == STB_GLOBAL || binding == STB_WEAK) &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT && symbol->st_shndx < SHN_LORESERVE &&
           (symbols_version(&from->symbols, index) || !symbols_has_version(&owner->symbols, symbol));
}

// Whether a slot leads to where its module has it bound: to instructions that do so, or anywhere in the module but to
// the module's own function.
static int is_unbound(const struct loaded *from, const ElfW(Rela) * relocation, uintptr_t value,
                      const ElfW(Sym) * own) {
    if (binds((const uint8_t *)value, (uint32_t)(relocation - from->symbols.relocations[0]))) return 1;
    return !own || (ELF64_ST_TYPE(own->st_info) == STT_FUNC && from->symbols.bias + own->st_value != value);
}

static int is_function(const ElfW(Sym) * symbol) {
    uint32_t type = symbol ? ELF64_ST_TYPE(symbol->st_info) : STT_NOTYPE;
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

// What becomes of one slot: 1: `call` says; 0: it is left alone; -1: until it is bound.
static int find_function(struct all *all, struct loaded *from, const ElfW(Rela) * relocation, int is_data,
                         struct library_call *call) {
    uint32_t index = ELF64_R_SYM(relocation->r_info), count = 0;
    const char *name = from->symbols.names + from->symbols.symbols[index].st_name;
    uintptr_t *slot = (uintptr_t *)(from->symbols.bias + relocation->r_offset), value = *slot;
    enum library_fate fate = library_name_fate(name);
    struct loaded *owner = module_at(all, value);
    if (!owner || fate == LIBRARY_LEFT || is_stub(value) || is_variant(&from->symbols.symbols[index])) return 0;
    int is_default = 1, is_wrapped = owner->is_runtime;
    const ElfW(Sym) *symbol = symbols_definition(&owner->symbols, &from->symbols, index, &is_default), *own = NULL;
    int is_lazy = owner == from && !is_data && is_unbound(from, relocation, value, symbol);
    // The kernel's module, which has no file, is asked by versions of its own.
    if (is_lazy || is_wrapped || !symbol) {
        own = symbols_definition(&all->runtime->symbols, &from->symbols, index, &is_default);
        owner = find_owner(all, from, index, &symbol, &is_default, &count);
        // The list of modules has the order in which functions are looked for.
        is_wrapped = own && (!owner || all->runtime < owner);
    }
    if (is_data && !is_function(symbol)) return 0;
    if (symbol && (owner->is_left || has_hooks(owner) || is_variant(symbol))) return 0;
    uintptr_t defined = symbol ? owner->symbols.bias + symbol->st_value : 0;
    int is_chosen = symbol && ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
    if (is_lazy) {
        if (!symbol || !is_certain(all, from, index, owner, symbol, count)) return -1;
        value = is_wrapped ? all->runtime->symbols.bias + own->st_value : defined;
    }
    int is_it = symbol && (is_wrapped || is_chosen || defined == value);
    if (detours_have(value)) return 0;  // that is where its calls are told of
    *call = (struct library_call){
        .target = value,
        .function = is_it ? defined : value,
        .slot = slot,
        .name = name,
        .version = is_it && !is_default ? symbols_version(&from->symbols, index) : NULL,
        .is_passed = fate == LIBRARY_PASSED,
        .is_to_choose = is_lazy && is_chosen && !is_wrapped,
    };
    return 1;
}

static size_t count_kind(const struct symbols *in, uint32_t kind) {
    size_t count = 0;
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; in->relocations[table] && i < in->relocation_count[table]; i++)
            count += ELF64_R_TYPE(in->relocations[table][i].r_info) == kind;
    return count;
}

static size_t find_kind(struct all *all, struct loaded *from, uint32_t kind, struct library_call *calls,
                        uint32_t *has_unbound) {
    size_t count = 0;
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *relocation = from->symbols.relocations[table];
        for (size_t i = 0; relocation && i < from->symbols.relocation_count[table]; i++, relocation++) {
            if (ELF64_R_TYPE(relocation->r_info) != kind || !ELF64_R_SYM(relocation->r_info)) continue;
            int found = find_function(all, from, relocation, kind == DATA_SLOT, &calls[count]);
            if (found > 0) count++;
            if (found < 0) *has_unbound = 1;
        }
    }
    return count;
}

// Shell's sort (D. L. Shell, 1959), with gaps of D. E. Knuth.
static void sort(struct library_call *calls, size_t count) {
    size_t gap = 1;
    while (gap < count / 3) gap = gap * 3 + 1;
    for (; gap; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            struct library_call call = calls[i];
            size_t at = i;
            for (; at >= gap && calls[at - gap].slot > call.slot; at -= gap) calls[at] = calls[at - gap];
            calls[at] = call;
        }
}

// Keeps those that code only calls through. `room` has a pointer and a byte for each.
static size_t keep_called(const struct dl_phdr_info *info, struct library_call *calls, size_t count, void *room) {
    uintptr_t **slots = room;
    uint8_t *marks = (uint8_t *)(slots + count);
    size_t kept = 0;
    sort(calls, count);
    for (size_t i = 0; i < count; i++) slots[i] = calls[i].slot, marks[i] = 0;
    library_slots_mark_uses(info, slots, marks, count);
    for (size_t i = 0; i < count; i++)
        if (marks[i]) calls[kept++] = calls[i];
    return kept;
}

// ---- taking them

// Whether the dynamic linker has finished a module: its slots lead somewhere, and what is to be read-only is.
static int is_finished(const struct all *all, const struct loaded *module, uintptr_t low, uintptr_t high) {
    struct mapping found;
    const struct symbols *in = &module->symbols;
    // In an emulator, nobody may be able to read the process's mappings.
    if (low < high && !maps_find(low, &found)) return !system_is_writable((void *)low);
    if (low < high) return found.low <= low && !(found.rights & PROT_WRITE);
    for (size_t i = 0; in->relocations[0] && i < in->relocation_count[0]; i++) {
        const ElfW(Rela) *relocation = &in->relocations[0][i];
        uintptr_t value = *(const uintptr_t *)(in->bias + relocation->r_offset);
        if (ELF64_R_TYPE(relocation->r_info) == JUMP_SLOT && value && !module_at(all, value)) return 0;
    }
    return 1;
}

// Release: a thread that comes by the slot finds what its stub leads to.
static void lead_here(const struct library_call *call) {
    __atomic_store_n(call->slot, stub_of(call), __ATOMIC_RELEASE);
}

static void take(struct loaded *module, const struct library_call *found, size_t count, uint32_t has_unbound,
                 uintptr_t low, uintptr_t high) {
    struct stretch_of_calls *stretch = stretch_for((uint32_t)count);
    if (!stretch || (low < high && system_protect(low, high, PROT_READ | PROT_WRITE) < 0)) return;
    *stretch = (struct stretch_of_calls){module->low,     module->high,  stretch->first,
                                         (uint32_t)count, stretch->room, has_unbound};
    struct library_call *calls = &library_calls[stretch->first];
    __builtin_memcpy(calls, found, count * sizeof *calls);
    for (size_t i = 0; i < count; i++)
        if (!calls[i].is_to_choose) lead_here(&calls[i]);
    if (low < high) system_protect(low, high, PROT_READ);
}

// What is known of a module; where slots of it are still to be bound, what says so. NULL: nothing is.
static struct stretch_of_calls *known_of(const struct loaded *module) {
    struct stretch_of_calls *known = NULL;
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++)
        if (stretch->low == module->low && (!known || stretch->has_unbound)) known = stretch;
    return known;
}

static void look_at(struct all *all, struct loaded *module, const struct dl_phdr_info *info) {
    struct stretch_of_calls *known = known_of(module);
    uintptr_t low, high;
    uint32_t has_unbound = 0;
    if (known && !known->has_unbound) return;
    relro_pages(info, &low, &high);
    if (!is_finished(all, module, low, high)) {
        all->is_late = 1;
        return;
    }
    size_t jumps = count_kind(&module->symbols, JUMP_SLOT);
    size_t data = count_kind(&module->symbols, DATA_SLOT);
    size_t head = (jumps + data) * sizeof(struct library_call), size = head + (data + 1) * 2 * sizeof(uintptr_t);
    struct library_call *calls = system_allocate(size);
    if (!calls) return;
    size_t count = find_kind(all, module, JUMP_SLOT, calls, &has_unbound);
    size_t found = known ? 0 : find_kind(all, module, DATA_SLOT, calls + count, &has_unbound);
    if (found) found = keep_called(info, calls + count, found, (char *)calls + head);
    if (known) known->has_unbound = count ? 0 : has_unbound;
    if (!known || count) take(module, calls, count + found, has_unbound, low, high);
    system_free(calls, size);
}

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
    struct all *all = argument;
    if (loader_version(info, size) != all->version) {
        all->is_late = 1;
        return 1;
    }
    uintptr_t low, high;
    symbols_span(info, &low, &high);
    struct loaded *module = module_at(all, low);
    if (!module || module->low != low) return 0;
    uint64_t signals = lock_take(LOCK_SLOTS);
    if (module == all->loaded) forget_gone(all);
    forget_replaced(module, info);
    if (!module->keeps_slots) look_at(all, module, info);
    lock_give(LOCK_SLOTS, signals);
    return 0;
}

static long choose(void *resolver) { return ((long (*)(void))resolver)(); }

// Has functions chosen (IFUNC) whose slots are not bound yet, while no lock is held. They are of modules that the
// program was started with, which stay, and such slots are in no page that is read-only.
static void choose_functions(void) {
    for (struct library_call *call = library_calls; call < library_calls + call_count; call++) {
        if (!call->is_to_choose) continue;
        call->target = (uintptr_t)foreign_call(choose, (void *)call->function);
        call->is_to_choose = 0;
        lead_here(call);
    }
}

void library_slots_scan(void) {
    struct all all = {0};
    if (!(runtime.head.tells & FATHOM_TELLS_LIBRARY_CALLS) || !stubs() || signing_changes_addresses()) return;
    vectors_matter = 1;
    loader_touch_stack();
    uint64_t signals = system_block_signals();
    int is_had = loader_modules(collect, &all, LOADER_NOW) >= 0;
    all.loaded = (struct loaded *)all.modules.bytes;
    all.end = all.loaded + all.modules.used / sizeof *all.loaded;
    if (is_had && is_starting) start_count = (size_t)(all.end - all.loaded);
    is_starting = 0;
    all.runtime = module_at(&all, (uintptr_t)&runtime);
    if (!is_had || !all.runtime || loader_modules(look, &all, LOADER_NOW) < 0) all.is_late = 1;
    if (all.is_late) runtime.modules_stale = 1;
    choose_functions();
    array_release(&all.modules);
    system_restore_signals(signals);
}

// ---- the end

static int restore(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    uintptr_t low, high, first, end;
    symbols_span(info, &low, &high);
    uint64_t signals = lock_take(LOCK_SLOTS);
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++) {
        if (stretch->low != low || stretch->high != high) continue;
        relro_pages(info, &first, &end);
        if (first < end && system_protect(first, end, PROT_READ | PROT_WRITE) < 0) continue;
        for (struct library_call *call = &library_calls[stretch->first];
             call < &library_calls[stretch->first + stretch->count]; call++) {
            uintptr_t stub = stub_of(call);
            __atomic_compare_exchange_n(call->slot, &stub, call->target, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
        }
        if (first < end) system_protect(first, end, PROT_READ);
        stretch->low = 0;
    }
    lock_give(LOCK_SLOTS, signals);
    return 0;
}

void library_slots_restore(void) {
    runtime.head.tells &= (uint8_t)~FATHOM_TELLS_LIBRARY_CALLS;
    if (stretch_count) loader_modules(restore, NULL, LOADER_PATIENCE);
}

FATHOM_WITHOUT_HOOKS_END
