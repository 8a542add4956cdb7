#include "entries.h"

#include "CTraceFunctions.h"

#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

// The entries of a module. They stay mapped when it is gone, because a thread may be looking into them.
struct entries {
    struct entries *next;
    struct text text;
    uint32_t is_gone, count;
    uint32_t *offsets;  // from text.low, ascending
    uint8_t *bytes;     // what stands in the file
    uint8_t *is_called;
};
static struct entries *all;  // the newest module comes first
static uint32_t is_over;     // modules get no more traps

static struct entries *allocate(struct text text, uint32_t count) {
    size_t each = sizeof(uint32_t) + 2 * sizeof(uint8_t);
    struct entries *entries = system_allocate(sizeof *entries + count * each);
    if (!entries) return NULL;
    *entries = (struct entries){.text = text};
    entries->offsets = (uint32_t *)(entries + 1);
    entries->bytes = (uint8_t *)(entries->offsets + count);
    entries->is_called = entries->bytes + count;
    return entries;
}

// What is in memory must be what the recorder has decoded: a program may have changed its code by now.
static void fill(struct entries *entries, uintptr_t bias, const char *words, uint32_t count) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word;
        __builtin_memcpy(&word, words + i * sizeof word, sizeof word);
        uintptr_t address = (word >> FATHOM_SAYS_BITS) + bias;
        if (address < entries->text.low || address >= entries->text.high) continue;
        uint32_t offset = (uint32_t)(address - entries->text.low);
        uint8_t byte = word & FATHOM_ENTRY_BYTE;
        if ((entries->count && offset <= last) || byte == TRAP || *(const uint8_t *)address != byte) continue;
        entries->offsets[entries->count] = last = offset;
        entries->bytes[entries->count++] = byte;
    }
}

static uint8_t *place_of(const struct entries *entries, uint32_t index) {
    return (uint8_t *)entries->text.low + entries->offsets[index];
}

// One byte is never torn, so a thread that runs there meets either the trap or the function. Release: whoever meets the
// trap finds its entry in the list.
static void put(uint8_t *place, uint8_t byte) { __atomic_store_n(place, byte, __ATOMIC_RELEASE); }

int entries_arm(uintptr_t bias, const char *words, uint32_t count, struct text text) {
    if (!count || text.high <= text.low || text.high - text.low > UINT32_MAX || fathom_load32(&is_over)) return 1;
    struct entries *entries = allocate(text, count);
    if (!entries) return 0;
    fill(entries, bias, words, count);
    uintptr_t low = text.low & ~(PAGE_SIZE - 1), high = (text.high + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    // The code stays writable, so that a first call takes no system call besides the trap.
    if (system_protect(low, high, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        system_protect(low, high, PROT_READ | PROT_EXEC);  // a part may have changed
        return 0;
    }
    entries->next = all;
    // Release: whoever hits a trap finds what it stands for.
    __atomic_store_n(&all, entries, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < entries->count; i++) put(place_of(entries, i), TRAP);
    // Another thread may have given up all of them a moment ago, and not these.
    if (fathom_load32(&is_over)) entries_give_up(text.low, text.high);
    return 1;
}

// The index of an entry, or entries->count.
static uint32_t find(const struct entries *entries, uintptr_t address) {
    uint32_t offset = (uint32_t)(address - entries->text.low), low = 0, high = entries->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entries->offsets[middle] < offset) low = middle + 1;
        else high = middle;
    }
    return low < entries->count && entries->offsets[low] == offset ? low : entries->count;
}

// Acquire, here and below: another thread may have added the newest module a moment ago. What stands of an entry
// itself is relaxed: the dynamic linker's lock lies between the end of a module and the next one at its addresses,
// and who comes first to an entry is decided by that word alone.
enum taken entries_take(uintptr_t address) {
    for (struct entries *entries = __atomic_load_n(&all, __ATOMIC_ACQUIRE); entries; entries = entries->next) {
        if (address < entries->text.low || address >= entries->text.high) continue;
        if (__atomic_load_n(&entries->is_gone, __ATOMIC_RELAXED)) continue;
        uint32_t index = find(entries, address);
        if (index == entries->count) continue;
        // Every thread that comes here takes the trap away, so that none depends on another that is not scheduled.
        put((uint8_t *)address, entries->bytes[index]);
        return __atomic_exchange_n(&entries->is_called[index], 1, __ATOMIC_RELAXED) ? TAKEN_AGAIN : TAKEN_FIRST;
    }
    return TAKEN_NONE;
}

void entries_give_up(uintptr_t low, uintptr_t high) {
    for (struct entries *entries = __atomic_load_n(&all, __ATOMIC_ACQUIRE); entries; entries = entries->next) {
        if (high <= entries->text.low || low >= entries->text.high) continue;
        if (__atomic_load_n(&entries->is_gone, __ATOMIC_RELAXED)) continue;
        for (uint32_t i = 0; i < entries->count; i++) {
            uintptr_t address = (uintptr_t)place_of(entries, i);
            if (address < low || address >= high) continue;
            // What is called from here on was not called before: nobody records it.
            if (__atomic_exchange_n(&entries->is_called[i], 1, __ATOMIC_RELAXED)) continue;
            put((uint8_t *)address, entries->bytes[i]);
        }
    }
}

void entries_give_up_all(void) {
    fathom_store32(&is_over, 1);
    entries_give_up(0, UINTPTR_MAX);
}

void entries_forget(uintptr_t low, uintptr_t high) {
    for (struct entries *entries = all; entries; entries = entries->next)
        if (entries->text.low >= low && entries->text.low < high)
            // Relaxed: see entries_take.
            __atomic_store_n(&entries->is_gone, 1, __ATOMIC_RELAXED);
}

FATHOM_WITHOUT_HOOKS_END
