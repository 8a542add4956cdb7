#include "detours.h"

#include "../host/patch.h"
#include "../host/runtime.h"
#include "metadata.h"

#include <sys/mman.h>

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

struct detour *detours;
static uint32_t used;  // numbers

__attribute__((visibility("default"))) uint32_t fathom_has_detours;

#define STUB_HEAD 11u   // bytes before what was moved
#define STUB_ALIGN 16u  // so that the first eight bytes are changed by one store
#define CLOSED 0x09ebu  // a jump over the other nine bytes of the head

// The detours of one module. Its memory begins with the address that stubs jump to, and stays when the module is gone:
// another one at the same place may have it.
struct region {
    uintptr_t low, high;  // of the module's code; 0: the module is gone
    uintptr_t text_low;   // as `low`, but it stays as long as another module may have the memory
    char *memory;
    size_t size;
    uint32_t first, count, room;  // numbers
    uint32_t is_pending;          // its functions are to be changed when all threads are stopped
    uint32_t is_told;
    struct fathom_detours_item told;
};
#define REGION_LIMIT 1024u
static struct region regions[REGION_LIMIT];
static uint32_t region_count;

// ---- memory

// Branches and operands reach 2 GB. What functions refer to in their own module is within reach, too, as long as the
// memory is this near.
#define NEAR (1ull << 30)
#define STEP (8ull << 20)

// Below the module as a rule: above a program lies its heap, which grows.
static char *map_near(struct text text, size_t size) {
    uintptr_t low = text.low & ~(PAGE_SIZE - 1), high = (text.high + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    char *memory = NULL;
    for (uintptr_t down = size + PAGE_SIZE * 16; !memory && down < NEAR && down + (1 << 20) < low; down += STEP)
        memory = system_allocate_at((low - down) & ~(PAGE_SIZE - 1), size);
    for (uintptr_t up = NEAR; !memory && up > NEAR / 4; up -= STEP) memory = system_allocate_at(high + up - size, size);
    return memory;
}

int detours_replace(uintptr_t address, void (*target)(void)) {
    // jmp *0(%rip), and behind it where to
    uint8_t island[14] = {0xff, 0x25}, jump[FATHOM_DETOUR_SIZE] = {0xe9};
    struct patch patch;
    char *memory = map_near((struct text){address, address + sizeof jump}, PAGE_SIZE);
    if (!memory) return 0;
    __builtin_memcpy(island + 6, &target, sizeof target);
    __builtin_memcpy(memory, island, sizeof island);
    int32_t distance = (int32_t)((uintptr_t)memory - (address + sizeof jump));
    __builtin_memcpy(jump + 1, &distance, sizeof distance);
    if (system_protect((uintptr_t)memory, (uintptr_t)memory + PAGE_SIZE, PROT_READ | PROT_EXEC) < 0 ||
        patch_begin(&patch, address, address + sizeof jump) < 0)
        return 0;
    __builtin_memcpy((void *)address, jump, sizeof jump);
    patch_spread(&patch);
    patch_end(&patch);
    return 1;
}

// ---- what a module gets

// The detour at `index` of a list, as it is in memory; NULL: the function is not what the recorder has judged.
static const uint8_t *code_of(uintptr_t bias, struct text text, const char *list, uint32_t index) {
    struct fathom_detour detour;
    __builtin_memcpy(&detour, list + index * sizeof detour, sizeof detour);
    uintptr_t address = detour.address + bias;
    if (address < text.low || address >= text.high || text.high - address < FATHOM_DETOUR_SIZE) return NULL;
    return __builtin_memcmp((const void *)address, detour.code, FATHOM_DETOUR_SIZE) ? NULL : (const uint8_t *)address;
}

static uint8_t has_hooks(const char *list, uint32_t index) {
    struct fathom_detour detour;
    __builtin_memcpy(&detour, list + index * sizeof detour, sizeof detour);
    return detour.has_hooks;
}

// Writes a stub that is going to run at `address`. Returns its size; 0 where the function cannot have one.
static size_t write_stub(uint8_t *bytes, uintptr_t address, uintptr_t entry, uint32_t number, const uint8_t *code,
                         size_t size, size_t *moved) {
    struct fathom_mover mover = {.bytes = bytes, .address = address};
    fathom_move_byte(&mover, 0x68);
    fathom_move_bytes(&mover, &number, sizeof number);
    fathom_move_byte(&mover, 0xff);
    fathom_move_byte(&mover, 0x25);
    fathom_move_distance(&mover, entry, 0);
    *moved = fathom_move_function(&mover, code, size, (uintptr_t)code);
    if (!*moved) return 0;
    return (mover.size + STUB_ALIGN - 1) & ~(size_t)(STUB_ALIGN - 1);
}

static size_t left(struct text text, const uint8_t *code) { return text.high - (uintptr_t)code; }

static size_t size_of_stubs(uintptr_t bias, struct text text, const char *list, uint32_t count) {
    uint8_t stub[STUB_HEAD + FATHOM_MOVED_LIMIT];
    size_t size = STUB_ALIGN, moved;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *code = code_of(bias, text, list, i);
        if (code) size += write_stub(stub, (uintptr_t)code, (uintptr_t)code, 0, code, left(text, code), &moved);
    }
    return (size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

// A region of a module that was at the same place before, or a new one. NULL: there is none.
static struct region *region_for(struct text text, size_t size, uint32_t count) {
    for (struct region *region = regions; region < regions + region_count; region++)
        if (!region->low && region->text_low == text.low && region->size >= size && region->room >= count)
            return system_protect((uintptr_t)region->memory, (uintptr_t)region->memory + region->size,
                                  PROT_READ | PROT_WRITE)
                       ? NULL
                       : region;
    if (region_count == REGION_LIMIT || DETOUR_LIMIT - used < count) return NULL;
    if (!detours) detours = system_allocate(DETOUR_LIMIT * sizeof *detours);
    char *memory = detours ? map_near(text, size) : NULL;
    if (!memory) return NULL;
    struct region *region = &regions[region_count++];
    *region = (struct region){.memory = memory, .size = size, .first = used, .room = count};
    used += count;
    return region;
}

static void write_stubs(struct region *region, uintptr_t bias, struct text text, const char *list, uint32_t count) {
    uintptr_t entry = (uintptr_t)fathom_image.detour_entry;
    size_t size = STUB_ALIGN, moved = 0;
    __builtin_memcpy(region->memory, &entry, sizeof entry);
    region->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *code = code_of(bias, text, list, i);
        uintptr_t address = (uintptr_t)region->memory + size;
        uint32_t number = region->first + region->count;
        size_t written = code && region->size - size >= STUB_HEAD + FATHOM_MOVED_LIMIT
                             ? write_stub((uint8_t *)address, address, (uintptr_t)region->memory, number, code,
                                          left(text, code), &moved)
                             : 0;
        if (!written) continue;
        detours[number] =
            (struct detour){(uintptr_t)code, address + STUB_HEAD, {0}, (uint8_t)moved, 0, has_hooks(list, i)};
        __builtin_memcpy(detours[number].code, code, FATHOM_DETOUR_SIZE);
        region->count++;
        size += written;
    }
}

static void put_jump(const struct detour *detour, uint8_t *bytes) {
    int32_t distance = (int32_t)(detour->target - STUB_HEAD - (detour->function + FATHOM_DETOUR_SIZE));
    bytes[0] = 0xe9;
    __builtin_memcpy(bytes + 1, &distance, sizeof distance);
}

// Changes the region's functions. Returns 0, or what the session is told of the error.
static uint32_t write_jumps(struct region *region) {
    struct patch patch;
    region->is_pending = 0;
    region->told.open = 0;
    if (!region->count) return 0;
    long error = patch_begin(&patch, region->low, region->high);
    if (error < 0) return (uint32_t)-error;
    for (struct detour *detour = detours + region->first; detour < detours + region->first + region->count; detour++) {
        if (detour->is_left) continue;
        put_jump(detour, (uint8_t *)detour->function);
        region->told.open++;
    }
    patch_spread(&patch);
    patch_end(&patch);
    return 0;
}

static uint32_t are_safe;
void detours_allow(int safe) { fathom_store32(&are_safe, (uint32_t)safe); }

// What became of modules that could get none has a place at the end of the list.
static struct region failed;

void detours_add(uintptr_t bias, struct text text, const char *list, uint32_t count) {
    if (!fathom_image.detour_entry) return;
    int can = are_safe || runtime.is_joining;
    size_t size = size_of_stubs(bias, text, list, count) + PAGE_SIZE;
    struct region *region = can ? region_for(text, size, count) : NULL;
    uint32_t error = can ? FATHOM_DETOURS_NO_ROOM : FATHOM_DETOURS_LATE;
    if (!region) region = &failed;
    region->is_told = 0;
    region->told = (struct fathom_detours_item){.low = text.low, .asked = count, .error = error};
    if (region == &failed) return detours_tell();
    vectors_matter = 1;
    fathom_has_detours = 1;
    write_stubs(region, bias, text, list, count);
    region->text_low = region->low = text.low;
    region->high = text.high;
    uintptr_t memory = (uintptr_t)region->memory;
    long refused = system_protect(memory, memory + region->size, PROT_READ | PROT_EXEC);
    if (refused < 0) region->count = 0;
    region->told.error = (uint32_t)-refused;
    if (refused < 0) return;
    // Other threads run now.
    if (runtime.is_joining) region->is_pending = 1;
    else region->told.error = write_jumps(region);
}

// The memory of the stubs stays as it is, because a thread may be stopped in one, and no module gets it.
void detours_restore(void) {
    for (struct region *region = regions; region < regions + region_count; region++) {
        struct patch patch;
        region->told.low = 0;
        if (!region->low || !region->count || patch_begin(&patch, region->low, region->high) < 0) continue;
        for (uint32_t i = region->first; i < region->first + region->count; i++) {
            uint8_t jump[FATHOM_DETOUR_SIZE];
            void *place = (void *)detours[i].function;
            put_jump(&detours[i], jump);
            if (!__builtin_memcmp(place, jump, sizeof jump)) __builtin_memcpy(place, detours[i].code, sizeof jump);
        }
        patch_spread(&patch);
        patch_end(&patch);
        region->low = region->high = region->text_low = 0;
    }
}

void detours_forget(uintptr_t low, uintptr_t high) {
    for (struct region *region = regions; region < regions + region_count; region++)
        if (region->low >= low && region->low < high) region->low = region->high = 0;
}

static void tell(struct region *region) {
    if (region->is_told || region->is_pending || !region->told.low) return;
    region->is_told = 1;
    region->told.ticks = now_ticks();
    struct part parts[] = {ITEM_BODY(region->told)};
    metadata_append(FATHOM_ITEM_DETOURS, parts, 1);
}

void detours_tell(void) {
    for (struct region *region = regions; region < regions + region_count; region++) tell(region);
    tell(&failed);
}

// ---- afterwards

static struct region *region_of(uintptr_t function) {
    for (struct region *region = regions; region < regions + region_count; region++)
        if (function >= region->low && function < region->high) return region;
    return NULL;
}

// They stand in the order of their functions. The last one that begins at an address, or before it; NULL: there is
// none.
static struct detour *detour_before(const struct region *region, uintptr_t address) {
    struct detour *first = detours + region->first, *found = NULL;
    for (size_t count = region->count; count;) {
        struct detour *middle = first + count / 2;
        if (middle->function <= address) found = middle, first = middle + 1, count -= count / 2 + 1;
        else count /= 2;
    }
    return found;
}

// NULL: it has none.
static struct detour *detour_of(const struct region *region, uintptr_t function) {
    struct detour *detour = detour_before(region, function);
    return detour && detour->function == function ? detour : NULL;
}

int detours_have(uintptr_t function) {
    const struct region *region = region_of(function);
    return region && detour_of(region, function);
}

// Where the instruction at an address has come to; 0: nowhere.
static uintptr_t moved_from(const struct detour *detour, uintptr_t address) {
    uint8_t bytes[FATHOM_MOVED_LIMIT];
    struct fathom_mover mover = {.bytes = bytes, .address = detour->target, .wanted = address - detour->function};
    fathom_move_function(&mover, (const uint8_t *)detour->function, FATHOM_MOVED_LIMIT, detour->function);
    return mover.found ? detour->target + mover.found : 0;
}

void detours_begin(uint64_t *addresses, size_t threads, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct region *region = region_of(addresses[i]);
        struct detour *detour = region && region->is_pending ? detour_before(region, addresses[i]) : NULL;
        if (!detour || addresses[i] - detour->function - 1 >= detour->moved - 1u) continue;
        uintptr_t place = i < threads ? moved_from(detour, addresses[i]) : 0;
        if (place) addresses[i] = place;
        else detour->is_left = 1;
    }
    for (struct region *region = regions; region < regions + region_count; region++)
        if (region->is_pending) region->told.error = write_jumps(region);
}

void detours_close_all(void) {
    uint64_t signals = lock_take(LOCK_MODULES);
    for (struct region *region = regions; region < regions + region_count; region++) {
        struct patch patch;
        uintptr_t memory = (uintptr_t)region->memory;
        if (!region->low || !region->count || patch_begin(&patch, memory, memory + region->size) < 0) continue;
        for (uint32_t i = region->first; i < region->first + region->count; i++)
            patch_head(detours[i].target - STUB_HEAD, CLOSED);
        patch_spread(&patch);
        patch_end(&patch);
    }
    lock_give(LOCK_MODULES, signals);
}

uint32_t detours_close(uintptr_t *functions, uint32_t count) {
    uint32_t kept = 0;
    uint64_t signals = lock_take(LOCK_MODULES);
    for (uint32_t i = 0; i < count; i++) {
        struct region *region = region_of(functions[i]);
        const struct detour *detour = region ? detour_of(region, functions[i]) : NULL;
        struct patch patch;
        if (!detour) {
            functions[kept++] = functions[i];
            continue;
        }
        uintptr_t head = detour->target - STUB_HEAD;
        if (patch_begin(&patch, head, head + STUB_HEAD) < 0) continue;
        patch_head(head, CLOSED);
        patch_spread(&patch);
        patch_end(&patch);
        region->told.open--;
        region->told.busy++;
        region->is_told = 0;
    }
    detours_tell();
    lock_give(LOCK_MODULES, signals);
    return kept;
}

FATHOM_WITHOUT_HOOKS_END

#endif
