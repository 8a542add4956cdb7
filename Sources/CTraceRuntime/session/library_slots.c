// Finds the slots of the global offset tables, and makes them lead to stubs.
//
//   JUMP_SLOT   The dynamic linker has bound it, or binds it at its first call (lazily). In the latter case the stub
//   goes
//               on to what binds it. The dynamic linker writes the function into the slot then, and the slot is taken
//               back by whoever comes next.
//   GLOB_DAT    Code may read it, to compare functions or to pass them on. So only those are taken that all code of the
//               module calls or jumps through (session/library_uses.c), as code does that was compiled with -fno-plt.
//
// Calls of what has hooks, or sleds, of its own are left to these. So are the calls that the C library, the dynamic
// linker and the unwinder make: the runtime itself calls these.

#include "library_slots.h"

#include "../host/loader.h"
#include "../host/patch.h"
#include "../host/runtime.h"
#include "../host/text.h"
#include "CTraceRuntimeHostSymbols.h"
#include "sled_module.h"

#include <sys/mman.h>

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

struct library_call *library_slots_binding;

// ---- the modules there are

struct loaded {
    uintptr_t low, high;
    struct symbols symbols;
    uint8_t is_runtime;
    uint8_t keeps_slots;  // its own slots are left alone
    uint8_t has_hooks;    // 1: it has; 2: it has none; 0: nobody has asked yet
};
struct all {
    struct loaded *loaded, *runtime;
    size_t count, room;
    uint64_t version;  // dlpi_adds + dlpi_subs
    int is_start;  // all modules are those that the program was started with, and their functions are found as usual
    int is_late;   // a module is not finished, or the list has changed meanwhile
};

// The C library, the dynamic linker, the unwinders, and what sanitizers do in place of the C library's functions.
static int is_system(const char *name) {
    static const char systems[] =
        "libc.so\0ld-linux\0libpthread.so\0libdl.so\0librt.so\0libgcc_s.so\0libunwind\0libasan.so\0libtsan.so\0"
        "liblsan.so\0libubsan.so\0libclang_rt\0libmsan.so\0libhwasan.so\0";
    for (const char *system = systems; *system; system += text_length(system) + 1)
        if (text_starts_with(name, system)) return 1;
    return 0;
}

static uint64_t version_of(const struct dl_phdr_info *info, size_t size) {
    return size >= offsetof(struct dl_phdr_info, dlpi_tls_modid) ? info->dlpi_adds + info->dlpi_subs : 0;
}

static void bounds(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high) {
    *low = UINTPTR_MAX, *high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD) continue;
        if (start < *low) *low = start;
        if (start + header->p_memsz > *high) *high = start + header->p_memsz;
    }
}

static int holds(const struct loaded *module, uintptr_t address) {
    return address - module->low < module->high - module->low;
}

static int collect(struct dl_phdr_info *info, size_t size, void *argument) {
    struct all *all = argument;
    all->version = version_of(info, size);
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 128;
        struct loaded *more = system_allocate(room * sizeof *more);
        if (!more) return 1;
        if (all->room) {
            __builtin_memcpy(more, all->loaded, all->count * sizeof *more);
            system_free(all->loaded, all->room * sizeof *more);
        }
        all->loaded = more;
        all->room = room;
    }
    const ElfW(Dyn) *dynamic = symbols_dynamic(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    struct loaded *module = &all->loaded[all->count++];
    *module = (struct loaded){.symbols = symbols_of(info->dlpi_addr, dynamic)};
    bounds(info, &module->low, &module->high);
    module->is_runtime = holds(module, (uintptr_t)&runtime);
    module->keeps_slots =
        module->is_runtime || !dynamic || (module->symbols.own_name && is_system(module->symbols.own_name));
    return 0;
}

static const struct loaded *module_at(const struct all *all, uintptr_t address) {
    for (const struct loaded *module = all->loaded; module < all->loaded + all->count; module++)
        if (holds(module, address)) return module;
    return NULL;
}

static int has_hooks(struct loaded *module) {
    static const char hooks[] = "__cyg_profile_func_enter\0fathom_function_enter\0fathom_swift_enter\0";
    if (module->has_hooks) return module->has_hooks == 1;
    module->has_hooks = 2;
    for (const char *hook = hooks; *hook; hook += text_length(hook) + 1)
        if (symbols_bound(&module->symbols, hook)) module->has_hooks = 1;
    for (uint32_t i = 0; sled_module_known(i); i++)
        if (sled_module_known(i)->low == module->low && sled_module_known(i)->is_open) module->has_hooks = 1;
    return module->has_hooks == 1;
}

// ---- the modules whose slots are known

struct known {
    struct known *next;
    uintptr_t low, high;
    size_t mapped, count;
    struct library_call calls[];
};
static struct known *all_known;

#define STUB_SIZE 32u

// endbr64; movabs $call, %r11; jmp *(%rip); the entry's address
static void write_stub(uint8_t *stub, const struct library_call *call) {
    static const uint8_t begin[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x49, 0xbb}, jump[] = {0xff, 0x25, 4, 0, 0, 0};
    uintptr_t address = (uintptr_t)call, entry = (uintptr_t)fathom_image.library_entry;
    __builtin_memcpy(stub, begin, sizeof begin);
    __builtin_memcpy(stub + 6, &address, sizeof address);
    __builtin_memcpy(stub + 14, jump, sizeof jump);
    __builtin_memcpy(stub + 24, &entry, sizeof entry);
}

// ---- slots

// Whether the dynamic linker would find this very function for a slot, as do_lookup_x of glibc does: the first one in
// the order of the modules, where neither versions nor the way that a module was linked leave it a choice. Then the
// slot need not be bound, and no call comes by it while it is.
static int is_certain(const struct all *all, const struct loaded *from, uint32_t index, const struct loaded *owner,
                      const ElfW(Sym) * symbol) {
    int has_version = symbols_version(&from->symbols, index) != NULL;
    uint32_t binding = ELF64_ST_BIND(symbol->st_info);
    return all->is_start && !from->symbols.is_symbolic && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           (binding == STB_GLOBAL || binding == STB_WEAK) && ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT &&
           symbol->st_shndx < SHN_LORESERVE && (has_version || !owner->symbols.versions);
}

// Whether functions are found as usual: not where the environment changes how, or has it watched.
static int is_usual;

void library_slots_begin(char **environment) {
    static const char names[] = "LD_AUDIT=\0LD_PROFILE=\0LD_DYNAMIC_WEAK=\0LD_BIND_NOT=\0";
    is_usual = 1;
    for (; *environment; environment++)
        for (const char *name = names; *name; name += text_length(name) + 1)
            if (text_starts_with(*environment, name)) is_usual = 0;
}

// Whether a slot leads to where its module has it bound: to the instruction that pushes the relocation's number, or
// anywhere in the module but to the module's own function.
static int is_unbound(const struct loaded *from, const ElfW(Rela) * relocation, uintptr_t value,
                      const ElfW(Sym) * own) {
    const uint8_t *code = (const uint8_t *)value;
    uint32_t number = (uint32_t)(relocation - from->symbols.relocations[0]), pushed;
    if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) code += 4;  // endbr64
    __builtin_memcpy(&pushed, code + 1, sizeof pushed);
    if (code[0] == 0x68 && pushed == number) return 1;
    return !own || (ELF64_ST_TYPE(own->st_info) == STT_FUNC && from->symbols.bias + own->st_value != value);
}

// The first module that defines what a slot is to lead to, apart from the runtime.
static struct loaded *find_owner(struct all *all, const struct loaded *from, uint32_t index, const ElfW(Sym) * *symbol,
                                 int *is_default) {
    for (struct loaded *module = all->loaded; module < all->loaded + all->count; module++)
        if (!module->is_runtime && (*symbol = symbols_definition(&module->symbols, &from->symbols, index, is_default)))
            return module;
    *symbol = NULL;
    return NULL;
}

// What one slot's function is. Returns 0 where it is to be left alone.
static int find_function(struct all *all, struct loaded *from, const ElfW(Rela) * relocation, int is_data,
                         struct library_call *call) {
    uint32_t index = ELF64_R_SYM(relocation->r_info);
    const char *name = from->symbols.names + from->symbols.symbols[index].st_name;
    uintptr_t *slot = (uintptr_t *)(from->symbols.bias + relocation->r_offset);
    uintptr_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
    struct loaded *owner = (struct loaded *)module_at(all, value);
    if (!owner || !*name || library_name_is_left(name) || !library_name_is_asked(name)) return 0;
    int is_default = 1, is_wrapped = owner->is_runtime;
    const ElfW(Sym) *symbol = symbols_definition(&owner->symbols, &from->symbols, index, &is_default), *own = NULL;
    int is_lazy = owner == from && !is_data && is_unbound(from, relocation, value, symbol);
    if (is_lazy || is_wrapped) {
        own = symbols_definition(&all->runtime->symbols, &from->symbols, index, &is_default);
        owner = find_owner(all, from, index, &symbol, &is_default);
        // The runtime's own function stands before all but the program's.
        is_wrapped = own && owner != all->loaded;
    }
    if (is_lazy && symbol && is_certain(all, from, index, owner, symbol)) {
        value = is_wrapped ? all->runtime->symbols.bias + own->st_value : owner->symbols.bias + symbol->st_value;
        is_lazy = 0;
    }
    if (is_data &&
        (!symbol || (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)))
        return 0;
    if (symbol && has_hooks(owner)) return 0;
    uintptr_t defined = symbol ? owner->symbols.bias + symbol->st_value : 0;
    int is_it =
        symbol && (is_lazy || is_wrapped || defined == value || ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC);
    *call = (struct library_call){
        .target = value,
        .function = is_it ? defined : value,
        .slot = slot,
        .name = name,
        .version = is_it && !is_default ? symbols_version(&from->symbols, index) : NULL,
        .is_lazy = is_lazy ? LAZY_YES : LAZY_NOT,
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

static size_t find_kind(struct all *all, struct loaded *from, uint32_t kind, struct library_call *calls) {
    size_t count = 0;
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *relocation = from->symbols.relocations[table];
        for (size_t i = 0; relocation && i < from->symbols.relocation_count[table]; i++, relocation++)
            if (ELF64_R_TYPE(relocation->r_info) == kind && ELF64_R_SYM(relocation->r_info))
                count += find_function(all, from, relocation, kind == R_X86_64_GLOB_DAT, &calls[count]) != 0;
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

// The pages that the dynamic linker makes read-only when it has finished the module.
static void read_only(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high) {
    *low = *high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_GNU_RELRO) continue;
        *low = (info->dlpi_addr + header->p_vaddr) & ~(PAGE_SIZE - 1);
        *high = (info->dlpi_addr + header->p_vaddr + header->p_memsz) & ~(PAGE_SIZE - 1);
    }
}

// Whether the dynamic linker has finished a module: its slots lead somewhere, and what is to be read-only is.
static int is_finished(const struct all *all, const struct loaded *module, uintptr_t low, uintptr_t high) {
    struct mapping found;
    const struct symbols *in = &module->symbols;
    if (low < high) return maps_find(low, &found) && found.low <= low && !(found.rights & PROT_WRITE);
    for (size_t i = 0; in->relocations[0] && i < in->relocation_count[0]; i++) {
        const ElfW(Rela) *relocation = &in->relocations[0][i];
        uintptr_t value = *(const uintptr_t *)(in->bias + relocation->r_offset);
        if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT && value && !module_at(all, value)) return 0;
    }
    return 1;
}

static void take(struct known *known, uintptr_t low, uintptr_t high) {
    size_t head = (sizeof *known + known->count * sizeof *known->calls + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    uint8_t *stubs = (uint8_t *)known + head;
    for (size_t i = 0; i < known->count; i++) {
        write_stub(stubs + i * STUB_SIZE, &known->calls[i]);
        known->calls[i].stub = (uintptr_t)stubs + i * STUB_SIZE;
    }
    int may_run = system_protect((uintptr_t)stubs, (uintptr_t)known + known->mapped, PROT_READ | PROT_EXEC) >= 0;
    if (!may_run || (low < high && system_protect(low, high, PROT_READ | PROT_WRITE) < 0)) {
        system_free(known, known->mapped);
        return;
    }
    // Release: a thread that comes by the slot finds its stub.
    for (size_t i = 0; i < known->count; i++)
        __atomic_store_n(known->calls[i].slot, known->calls[i].stub, __ATOMIC_RELEASE);
    if (low < high) system_protect(low, high, PROT_READ);
    known->next = all_known;
    all_known = known;
}

static void look_at(struct all *all, struct loaded *module, const struct dl_phdr_info *info) {
    uintptr_t low, high;
    for (const struct known *known = all_known; known; known = known->next)
        if (known->low == module->low) return;
    read_only(info, &low, &high);
    if (!is_finished(all, module, low, high)) {
        all->is_late = 1;
        return;
    }
    size_t jumps = count_kind(&module->symbols, R_X86_64_JUMP_SLOT);
    size_t data = count_kind(&module->symbols, R_X86_64_GLOB_DAT), most = jumps + data;
    size_t head = (sizeof(struct known) + most * sizeof(struct library_call) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    size_t size = (head + (most + 1) * STUB_SIZE + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    struct known *known = system_allocate(size);
    if (!known) return;
    *known = (struct known){.low = module->low, .high = module->high, .mapped = size};
    known->count = find_kind(all, module, R_X86_64_JUMP_SLOT, known->calls);
    size_t found = find_kind(all, module, R_X86_64_GLOB_DAT, known->calls + known->count);
    if (found) {
        // The stubs' room is still free: 32 bytes for each.
        found = keep_called(info, known->calls + known->count, found, (char *)known + head);
        __builtin_memset((char *)known + head, 0, size - head);
    }
    known->count += found;
    take(known, low, high);
}

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
    struct all *all = argument;
    if (version_of(info, size) != all->version) {
        all->is_late = 1;
        return 1;
    }
    uintptr_t low, high;
    bounds(info, &low, &high);
    for (struct loaded *module = all->loaded; module < all->loaded + all->count; module++) {
        if (module->low != low || module->keeps_slots) continue;
        uint64_t signals = lock_take(LOCK_SLOTS);
        look_at(all, module, info);
        lock_give(LOCK_SLOTS, signals);
    }
    return 0;
}

void library_slots_scan(void) {
    struct all all = {0};
    if (!(runtime.head.tells & FATHOM_TELLS_LIBRARY_CALLS) || !fathom_image.library_entry) return;
    vectors_matter = 1;
    loader_touch_stack();
    uint64_t signals = system_block_signals();
    all.is_start = is_usual;
    is_usual = 0;
    int is_had = loader_modules(collect, &all, LOADER_NOW) >= 0;
    for (struct loaded *module = all.loaded; module < all.loaded + all.count; module++)
        if (module->is_runtime) all.runtime = module;
    if (!is_had || !all.runtime || loader_modules(look, &all, LOADER_NOW) < 0) all.is_late = 1;
    if (all.is_late) runtime.modules_stale = 1;
    if (all.loaded) system_free(all.loaded, all.room * sizeof *all.loaded);
    system_restore_signals(signals);
}

// ---- slots that the dynamic linker binds

static void push(struct library_call *call) {
    struct library_call *first = __atomic_load_n(&library_slots_binding, __ATOMIC_RELAXED);
    do call->next = first;
    while (!__atomic_compare_exchange_n(&library_slots_binding, &first, call, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void library_slot_binds(struct library_call *call) {
    if (fathom_swap32(&call->is_lazy, LAZY_YES, LAZY_BINDING)) push(call);
}

void library_slot_take_back(struct library_call *call) {
    uintptr_t value = __atomic_load_n(call->slot, __ATOMIC_ACQUIRE);
    if (value == call->stub) return;
    // Release: whoever comes by the slot, or finds it bound, finds the target.
    __atomic_store_n(&call->target, value, __ATOMIC_RELEASE);
    __atomic_store_n(call->slot, call->stub, __ATOMIC_RELEASE);
}

void library_slots_take_back(void) {
    struct library_call *call = __atomic_exchange_n(&library_slots_binding, NULL, __ATOMIC_ACQ_REL), *next;
    for (; call; call = next) {
        uintptr_t target = call->target;
        next = call->next;
        library_slot_take_back(call);
        if (call->target == target) push(call);
        else fathom_store32(&call->is_lazy, LAZY_NOT);
    }
}

// ---- the end

// A thread may be going through those that are being bound. If one of the module's is among them, all of its stay in
// memory.
static int is_binding(const struct known *known) {
    for (size_t i = 0; i < known->count; i++)
        if (fathom_load32(&known->calls[i].is_lazy) == LAZY_BINDING) return 1;
    return 0;
}

void library_slots_forget(uintptr_t low, uintptr_t high) {
    if (!all_known) return;
    uint64_t signals = lock_take(LOCK_SLOTS);
    struct library_call *call = __atomic_exchange_n(&library_slots_binding, NULL, __ATOMIC_ACQ_REL), *next;
    for (; call; call = next) {
        next = call->next;
        if ((uintptr_t)call->slot < low || (uintptr_t)call->slot >= high) push(call);
    }
    for (struct known **at = &all_known, *known; (known = *at);) {
        if (known->low < low || known->low >= high) {
            at = &known->next;
            continue;
        }
        *at = known->next;
        if (!is_binding(known)) system_free(known, known->mapped);
    }
    lock_give(LOCK_SLOTS, signals);
}

static int restore(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    uintptr_t low, high, first, end;
    bounds(info, &low, &high);
    for (struct known *known = all_known; known; known = known->next) {
        if (known->low != low) continue;
        read_only(info, &first, &end);
        if (first < end && system_protect(first, end, PROT_READ | PROT_WRITE) < 0) continue;
        for (size_t i = 0; i < known->count; i++) {
            uintptr_t stub = known->calls[i].stub;
            __atomic_compare_exchange_n(known->calls[i].slot, &stub, known->calls[i].target, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED);
        }
        if (first < end) system_protect(first, end, PROT_READ);
    }
    return 0;
}

void library_slots_restore(void) {
    if (!all_known) return;
    loader_modules(restore, NULL, LOADER_PATIENCE);
    library_slots_binding = NULL;
    all_known = NULL;
}

FATHOM_WITHOUT_HOOKS_END

#endif
