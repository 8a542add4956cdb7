// Looks how a module's code uses slots, on aarch64:
//
//     adrp x16, PAGE
//     ldr x16, [x16, #OFFSET]     GOT's offsets reach 32 KB
//     blr x16
//
// Code is read from its beginning to its end, with what each register holds: a page that slots may lie behind, or what
// a slot holds. The only use of the latter that does not count as reading is to call or to jump there, by a register
// that the call does not keep. Where control goes elsewhere, whatever else was loaded counts as read, because nobody
// knows who goes on with it. A page may be used by the same register wherever control goes on: all loads by that
// register are taken for such that use the page. Any other use of a page counts as reading all slots behind it.
//
// Data between functions, and what a register does not hold any more, at worst make slots be left alone.

#include "library_slots.h"

#if defined(__aarch64__)

#include <link.h>

FATHOM_WITHOUT_HOOKS

#include "CDetoursARM.h"

enum { CALLED = 1, READ = 2 };

#define PAGE 4096u
#define REACH 32768u  // how far behind a page its slots can lie
#define PAGES 64u     // that are told apart
#define ALL_REGISTERS 0x7fffffffu
#define SCRATCH 0x4007ffffu  // what a call may change: x0 to x18, x30

struct looking {
    uintptr_t *const *slots;
    uint8_t *marks;
    size_t count;
    uintptr_t first_page;  // of PAGES
    // What each register holds: the number of a page, or of a slot, and 1; 0: neither.
    uint8_t page[32];
    uint32_t slot[32];
    uint32_t with_page, with_slot;  // the registers for which that is so
    uint64_t kept[32];              // pages that a register may hold anywhere, a bit each
};

static uint32_t bit(uint32_t number) { return number < 31 ? 1u << number : 0; }
static uint32_t field(uint32_t code, uint32_t shift) { return code >> shift & 31u; }

// ---- the slots

// The first slot at `address` or above.
static size_t slot_from(const struct looking *at, uintptr_t address) {
    size_t low = 0, high = at->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)at->slots[middle] < address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void mark_read(struct looking *at, uintptr_t from, uintptr_t to) {
    for (size_t i = slot_from(at, from); i < at->count && (uintptr_t)at->slots[i] < to; i++) at->marks[i] |= READ;
}

static uintptr_t page_address(const struct looking *at, uint32_t number) { return at->first_page + number * PAGE; }

// ---- what registers hold

static void forget(struct looking *at, uint32_t registers) {
    at->with_page &= ~registers;
    at->with_slot &= ~registers;
}

static void read_slots(struct looking *at, uint32_t registers) {
    for (registers &= at->with_slot; registers; registers &= registers - 1)
        at->marks[at->slot[__builtin_ctz(registers)] - 1] |= READ;
}

static void read_pages(struct looking *at, uint32_t registers) {
    for (registers &= at->with_page; registers; registers &= registers - 1) {
        uintptr_t page = page_address(at, at->page[__builtin_ctz(registers)] - 1u);
        mark_read(at, page, page + REACH);
    }
}

// Control may go on elsewhere with these registers.
static void leave(struct looking *at, uint32_t registers) {
    read_slots(at, registers);
    for (registers &= at->with_page; registers; registers &= registers - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(registers);
        at->kept[number] |= 1ull << (at->page[number] - 1u);
    }
}

static void use(struct looking *at, uint32_t registers) {
    read_slots(at, registers);
    read_pages(at, registers);
}

static void hold_page(struct looking *at, uint32_t number, uintptr_t address) {
    uintptr_t page = (address - at->first_page) / PAGE;
    forget(at, bit(number));
    if (address < at->first_page || page >= PAGES) return;
    at->page[number] = (uint8_t)(page + 1);
    at->with_page |= bit(number);
}

// Two slots at one place do not come up: then it counts as read.
static void hold_slot(struct looking *at, uint32_t number, uintptr_t address) {
    size_t i = slot_from(at, address);
    forget(at, bit(number));
    if (i == at->count || (uintptr_t)at->slots[i] != address) return mark_read(at, address - 7, address + 8);
    if (i + 1 < at->count && (uintptr_t)at->slots[i + 1] == address) return mark_read(at, address, address + 1);
    at->slot[number] = (uint32_t)(i + 1);
    at->with_slot |= bit(number);
}

// ---- instructions

// What lies at a distance from a register that may hold a page, wherever that comes from, is read.
static void look_behind_pages(struct looking *at, uint32_t number, uintptr_t distance) {
    for (uint64_t pages = number < 31 ? at->kept[number] : 0; pages; pages &= pages - 1) {
        uintptr_t address = page_address(at, (uint32_t)__builtin_ctzll(pages)) + distance;
        mark_read(at, address - 7, address + 16);
    }
}

static void look_at_access(struct looking *at, uint32_t code) {
    uint32_t d = field(code, 0), n = field(code, 5), read, written;
    uint32_t scale = (code & 0x04800000) == 0x04800000 ? 4 : code >> 30;
    uintptr_t distance = (uintptr_t)(code >> 10 & 0xfff) << scale;
    int has_page = (at->with_page & bit(n)) != 0, is_load = has_page && (code & 0xffc00000) == 0xf9400000 && d < 31;
    uintptr_t address = has_page ? page_address(at, at->page[n] - 1u) + distance : 0;
    look_behind_pages(at, n, distance);
    fathom_arm_registers(code, &read, &written);
    use(at, read & ~bit(n));
    read_slots(at, bit(n));
    forget(at, written);
    if (is_load) hold_slot(at, d, address);
    else if (has_page) mark_read(at, address - 7, address + 16);
}

// By a register, or to an address that is the instruction's own.
static int look_at_branch(struct looking *at, uint32_t code) {
    uint32_t n = bit(field(code, 5)), kind = code >> 21 & 15u;
    if ((code & 0xfe000000) == 0xd6000000) {
        uint32_t called = kind < 2 ? n & SCRATCH & at->with_slot : 0;
        if (called) at->marks[at->slot[__builtin_ctz(called)] - 1] |= CALLED;
        leave(at, ALL_REGISTERS & ~called);
        forget(at, (kind & 7u) == 1 ? SCRATCH : ALL_REGISTERS);
    } else if ((code & 0x7c000000) == 0x14000000) {  // b, bl
        leave(at, ALL_REGISTERS);
        forget(at, code >> 31 ? SCRATCH : ALL_REGISTERS);
    } else if ((code & 0xff000000) == 0x54000000 || (code & 0x7c000000) == 0x34000000) {  // b.cond, cbz, tbz
        leave(at, ALL_REGISTERS);
    } else {
        return 0;
    }
    return 1;
}

static void look_at(struct looking *at, uint32_t code, uintptr_t address) {
    uint32_t d = field(code, 0), n = field(code, 5), read, written;
    uintptr_t distance = (uintptr_t)((int64_t)((uint64_t)(code >> 5 & 0x7ffff) << 45) >> 43);
    if ((code & 0x9f000000) == 0x90000000)  // adrp
        return hold_page(at, d, (address & -(uintptr_t)PAGE) + (distance | (code >> 29 & 3u)) * PAGE);
    if ((code & 0x9f000000) == 0x10000000) {  // adr
        mark_read(at, address + (distance | (code >> 29 & 3u)), address + (distance | (code >> 29 & 3u)) + 1);
        return forget(at, bit(d));
    }
    if ((code & 0xff000000) == 0x58000000 && d < 31) return hold_slot(at, d, address + distance);  // ldr
    if ((code & 0x3b000000) == 0x18000000) mark_read(at, address + distance - 7, address + distance + 16);
    if ((code & 0x3b000000) == 0x39000000) return look_at_access(at, code);
    if (look_at_branch(at, code)) return;
    fathom_arm_registers(code, &read, &written);
    if ((code & 0xffc00000) == 0x91000000) {  // add
        distance = code >> 10 & 0xfff;
        look_behind_pages(at, n, distance);
        if (at->with_page & bit(n)) {
            uintptr_t to = page_address(at, at->page[n] - 1u) + distance;
            mark_read(at, to, to + 1);
            read = 0;
        }
    }
    use(at, read);
    forget(at, written);
}

void library_slots_mark_uses(const struct dl_phdr_info *module, uintptr_t *const *slots, uint8_t *marks, size_t count) {
    if (!count) return;
    struct looking at = {.slots = slots, .marks = marks, .count = count};
    at.first_page = ((uintptr_t)slots[0] & -(uintptr_t)PAGE) - REACH;
    int is_near = (uintptr_t)slots[count - 1] - at.first_page < PAGES * PAGE;
    // Twice, because control may come to what was looked at before.
    for (int i = 0; is_near && i < 2 * module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i % module->dlpi_phnum];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
        uintptr_t start = module->dlpi_addr + header->p_vaddr;
        for (uintptr_t address = start; address + 4 <= start + header->p_filesz; address += 4)
            look_at(&at, *(const uint32_t *)address, address);
        leave(&at, ALL_REGISTERS);
        forget(&at, ALL_REGISTERS);
    }
    for (size_t i = 0; i < count; i++) marks[i] = marks[i] == CALLED;
}

FATHOM_WITHOUT_HOOKS_END

#endif
