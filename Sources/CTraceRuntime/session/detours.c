#include "detours.h"

#include "../host/patch.h"
#include "../host/runtime.h"
#include "../host/signing.h"
#include "detour_code.h"
#include "detour_frames.h"
#include "metadata.h"

#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

struct detour *detours;
static uint32_t used;  // numbers

__attribute__((visibility("default"))) uint32_t fathom_has_detours;

// The detours of one segment of a module's code. Its memory begins with what stubs jump to, then come the stubs, and
// what unwinders need. It stays when the module is gone: another one at the same place may have it.
struct region {
    uintptr_t low, high;  // of the segment; 0: the module is gone
    uintptr_t text_low;   // as `low`, but it stays as long as another module may have the memory
    char *memory;
    size_t size, stubs;           // bytes, and those of them up to the end of the stubs
    uint32_t first, count, room;  // numbers
    uint32_t is_pending;          // its functions are to be changed when all threads are stopped
    uint32_t teller;              // the index of the module's region that tells of all of them
    uint32_t is_told;
    struct fathom_detours_item told;  // low = 0: there is nothing to tell
};
#define REGION_LIMIT 1024u
static struct region regions[REGION_LIMIT];
static uint32_t region_count;

// ---- memory

// The main thread's stack grows down to there, as a rule.
#define STACK_GROWTH (64ul << 20)

static char *map_at(uintptr_t address, size_t size) {
    uintptr_t top = runtime.stack_top;
    if (address < top && address + size + STACK_GROWTH > top) return NULL;
    return system_allocate_at(address, size);
}

// Below the module as a rule: above a program lies its heap, which grows.
static char *map_near(struct text text, size_t size) {
    uintptr_t low = text.low & ~(PAGE_SIZE - 1), high = (text.high + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    char *memory = NULL;
    if (high - low >= CODE_NEAR) return NULL;
    uintptr_t near = CODE_NEAR - (high - low);
    // Memory of earlier recordings stays there: the next ones look closer.
    for (uintptr_t step = CODE_STEP; !memory && step >= CODE_STEP / 64; step /= 8) {
        for (uintptr_t down = size + PAGE_SIZE * 16; !memory && down < near && down + (1 << 20) < low; down += step)
            memory = map_at((low - down) & ~(PAGE_SIZE - 1), size);
        for (uintptr_t up = near & ~(PAGE_SIZE - 1); !memory && up > near / 4 && up > size; up -= step)
            memory = map_at(high + up - size, size);
    }
    return memory;
}

// What was written there is code from now on.
static long lock_code(char *memory, size_t size) {
    uintptr_t low = (uintptr_t)memory;
    patch_clean(low, low + size);
    return system_protect(low, low + size, PROT_READ | PROT_EXEC);
}

int detours_replace(uintptr_t address, void (*target)(void)) {
    struct patch patch;
    char *memory = map_near((struct text){address, address + DETOUR_SIZE}, PAGE_SIZE);
    if (!memory) return 0;
    code_island((uint8_t *)memory, (uintptr_t)target);
    if (lock_code(memory, PAGE_SIZE) < 0 || patch_begin(&patch, address, address + DETOUR_SIZE) < 0) return 0;
    code_jump((uint8_t *)address, address, (uintptr_t)memory);
    patch_clean(address, address + DETOUR_SIZE);
    patch_spread(&patch);
    patch_end(&patch);
    return 1;
}

// ---- what a module gets

static size_t left(struct text text, const uint8_t *code) { return text.high - (uintptr_t)code; }

// Where the detour at `index` of a list is in memory, `*place` bytes behind the function's beginning; NULL: the
// function is not what the recorder has judged.
static const uint8_t *code_of(uintptr_t bias, struct text text, const char *list, uint32_t index, uint8_t *place) {
    struct fathom_detour detour;
    __builtin_memcpy(&detour, list + index * sizeof detour, sizeof detour);
    uintptr_t address = detour.address + bias;
    if (address < text.low || address >= text.high) return NULL;
    const uint8_t *code = (const uint8_t *)address;
    *place = code_place(code, left(text, code));
    code += *place;
    if (left(text, code) < DETOUR_SIZE) return NULL;
    return __builtin_memcmp(code, detour.code, DETOUR_SIZE) ? NULL : code;
}

static uint8_t has_hooks(const char *list, uint32_t index) {
    struct fathom_detour detour;
    __builtin_memcpy(&detour, list + index * sizeof detour, sizeof detour);
    return detour.has_hooks;
}

// *here is how many functions of the list lie in `text`, and are what the recorder has judged.
static size_t size_of_stubs(uintptr_t bias, struct text text, const char *list, uint32_t count, uint32_t *here) {
    uint8_t stub[STUB_LIMIT] __attribute__((aligned(4)));
    struct detour detour = {0};
    size_t size = STUB_UNIT;
    *here = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *code = code_of(bias, text, list, i, &detour.place);
        uintptr_t address = (uintptr_t)code;
        if (!code) continue;
        size += code_stub(stub, address, address, 0, code, left(text, code), &detour, NULL);
        ++*here;
    }
    return size + STUB_LIMIT;
}

// Whether jumps reach from the code to the region, and back.
static int is_near(const struct region *region, struct text text) {
    uintptr_t low = (uintptr_t)region->memory, high = low + region->size;
    if (text.low < low) low = text.low;
    if (text.high > high) high = text.high;
    return high - low <= CODE_NEAR;
}

// A region of a segment that was at the same place before, or a new one. NULL: there is none.
static struct region *region_for(struct text text, size_t size, uint32_t count) {
    for (struct region *region = regions; region < regions + region_count; region++)
        if (!region->low && region->text_low == text.low && region->stubs >= size && region->room >= count &&
            is_near(region, text))
            return system_protect((uintptr_t)region->memory, (uintptr_t)region->memory + region->size,
                                  PROT_READ | PROT_WRITE)
                       ? NULL
                       : region;
    if (region_count == REGION_LIMIT || DETOUR_LIMIT - used < count) return NULL;
    if (!detours) detours = system_allocate(DETOUR_LIMIT * sizeof *detours);
    size_t stubs = size;
    size = (stubs + frames_size(stubs, count) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    char *memory = detours ? map_near(text, size) : NULL;
    if (!memory) return NULL;
    struct region *region = &regions[region_count];
    *region = (struct region){.memory = memory, .size = size, .stubs = stubs, .first = used, .room = count};
    used += count;
    return region;
}

static void write_stubs(struct region *region, uintptr_t bias, struct text text, const char *list, uint32_t count) {
    uintptr_t first = (uintptr_t)region->memory;
    size_t size = STUB_UNIT;
    code_begin((uint8_t *)region->memory, (uintptr_t)fathom_image.detour_entry);
    region->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t address = first + size;
        uint32_t number = region->first + region->count;
        struct detour detour = {.target = address + STUB_UNIT, .has_hooks = has_hooks(list, i)};
        const uint8_t *code = code_of(bias, text, list, i, &detour.place);
        uint8_t *units = (uint8_t *)region->memory + region->stubs + size / FATHOM_MOVED_UNIT;
        size_t written =
            code && region->stubs - size >= STUB_LIMIT
                ? code_stub((uint8_t *)address, address, first, number, code, left(text, code), &detour, units)
                : 0;
        if (!written) continue;
        detour.function = (uintptr_t)code - detour.place;
        __builtin_memcpy(detour.code, code, DETOUR_SIZE);
        detours[number] = detour;
        region->count++;
        size += written;
    }
    frames_write(region->memory, region->stubs, detours, region->first, region->count);
    // Release: an unwinder that finds the region finds what is in it.
    if (region == regions + region_count) __atomic_store_n(&region_count, region_count + 1, __ATOMIC_RELEASE);
}

static void put_jump(const struct detour *detour, uint8_t *bytes) {
    code_jump(bytes, (uintptr_t)jump_of(detour), detour->target - STUB_UNIT);
}

static struct region *teller(const struct region *region) { return &regions[region->teller]; }

// Some functions may have detours all the same, in another segment.
static void tell_error(struct fathom_detours_item *told, long error) {
    if (!told->open) told->error = (uint32_t)-error;
}

// Changes the region's functions.
static void write_jumps(struct region *region) {
    struct patch patch;
    struct fathom_detours_item *told = &teller(region)->told;
    region->is_pending = teller(region)->is_told = 0;
    long error = patch_begin(&patch, region->low, region->high);
    if (error < 0) return tell_error(told, error);
    told->error = 0;
    for (struct detour *detour = detours + region->first; detour < detours + region->first + region->count; detour++) {
        if (detour->is_left) continue;
        put_jump(detour, jump_of(detour));
        patch_clean((uintptr_t)jump_of(detour), (uintptr_t)jump_of(detour) + DETOUR_SIZE);
        told->open++;
    }
    patch_spread(&patch);
    patch_end(&patch);
}

static uint32_t are_safe;
void detours_allow(int safe) { fathom_store32(&are_safe, (uint32_t)safe); }

// What became of modules that could get none has a place at the end of the list.
static struct region failed;

void detours_add(uintptr_t bias, const struct texts *texts, const char *list, uint32_t count) {
    if (!fathom_image.detour_entry) return;
    int is_late = !are_safe && !runtime.is_joining, is_signed = signing_changes_addresses();
    struct region *first = NULL;
    struct fathom_detours_item told = {.low = texts->parts[0].low, .asked = count};
    told.error = is_signed ? FATHOM_DETOURS_SIGNED : is_late ? FATHOM_DETOURS_LATE : 0;
    for (uint32_t i = 0; i < texts->count && !is_late && !is_signed; i++) {
        uint32_t here;
        struct text text = texts->parts[i];
        size_t size = size_of_stubs(bias, text, list, count, &here);
        struct region *region = here ? region_for(text, size, here) : NULL;
        if (here && !region && !first) told.error = FATHOM_DETOURS_NO_ROOM;
        if (!region) continue;
        vectors_matter = 1;
        fathom_has_detours = runtime.can_close = 1;
        if (!first) first = region, region->told = told, region->told.error = 0;
        region->teller = (uint32_t)(first - regions);
        region->is_told = region != first;
        write_stubs(region, bias, text, list, count);
        region->text_low = region->low = text.low;
        region->high = text.high;
        long refused = lock_code(region->memory, region->size);
        if (refused < 0) region->count = 0, tell_error(&first->told, refused);
        // Other threads run now.
        else if (runtime.is_joining) region->is_pending = 1;
        else write_jumps(region);
    }
    if (first) return;
    failed.told = told, failed.is_told = 0;
    detours_tell();
}

// The memory of the stubs stays as it is, because a thread may be stopped in one, and no module gets it.
void detours_restore(void) {
    for (struct region *region = regions; region < regions + region_count; region++) {
        struct patch patch;
        region->told.low = 0;
        region->is_pending = 0;
        if (!region->low || !region->count || patch_begin(&patch, region->low, region->high) < 0) continue;
        for (uint32_t i = region->first; i < region->first + region->count; i++) {
            uint8_t jump[DETOUR_SIZE];
            void *place = jump_of(&detours[i]);
            put_jump(&detours[i], jump);
            if (__builtin_memcmp(place, jump, sizeof jump)) continue;
            __builtin_memcpy(place, detours[i].code, sizeof jump);
            patch_clean((uintptr_t)place, (uintptr_t)place + sizeof jump);
        }
        patch_spread(&patch);
        patch_end(&patch);
        region->low = region->high = region->text_low = 0;
    }
}

void detours_forget(uintptr_t low, uintptr_t high) {
    for (struct region *region = regions; region < regions + region_count; region++)
        if (region->low >= low && region->low < high) region->low = region->high = region->is_pending = 0;
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

const void *detours_frames(uintptr_t address, uintptr_t *low, uintptr_t *high) {
    uint32_t count = __atomic_load_n(&region_count, __ATOMIC_ACQUIRE);
    for (const struct region *region = regions; region < regions + count; region++) {
        *low = (uintptr_t)region->memory, *high = *low + region->stubs;
        if (address >= *low && address < *high) return frames_of(region->memory, region->stubs);
    }
    return NULL;
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

void detours_move(uint64_t *addresses, size_t threads, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct region *region = region_of(addresses[i]);
        struct detour *detour = region && region->is_pending ? detour_before(region, addresses[i]) : NULL;
        if (!detour || addresses[i] - (uintptr_t)jump_of(detour) - 1 >= detour->moved - 1u) continue;
        uintptr_t place = i < threads ? code_moved(detour, addresses[i]) : 0;
        if (place) addresses[i] = place;
        else detour->is_left = 1;
    }
}

void detours_begin(void) {
    for (struct region *region = regions; region < regions + region_count; region++)
        if (region->is_pending) write_jumps(region);
}

void detours_close_all(void) {
    uint64_t signals = lock_take(LOCK_MODULES);
    for (struct region *region = regions; region < regions + region_count; region++) {
        struct patch patch;
        uintptr_t memory = (uintptr_t)region->memory;
        if (!region->low || !region->count || patch_begin(&patch, memory, memory + region->size) < 0) continue;
        for (uint32_t i = region->first; i < region->first + region->count; i++)
            detours[i].is_closed = 1, code_close(detours[i].target - STUB_UNIT);
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
        struct detour *detour = region ? detour_of(region, functions[i]) : NULL;
        struct patch patch;
        if (!detour) {
            functions[kept++] = functions[i];
            continue;
        }
        // The records of another thread may be of a time before.
        if (detour->is_closed) continue;
        uintptr_t head = detour->target - STUB_UNIT;
        if (patch_begin(&patch, head, head + STUB_UNIT) < 0) continue;
        code_close(head);
        detour->is_closed = 1;
        patch_spread(&patch);
        patch_end(&patch);
        teller(region)->told.open--;
        teller(region)->told.busy++;
        teller(region)->is_told = 0;
    }
    detours_tell();
    lock_give(LOCK_MODULES, signals);
    return kept;
}

FATHOM_WITHOUT_HOOKS_END
