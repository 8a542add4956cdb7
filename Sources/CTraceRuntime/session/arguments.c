// The table of where arguments are, and how memory is read at addresses that the program may have made up.

#include "arguments.h"

#include "../host/runtime.h"
#include "metadata.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/uio.h>

FATHOM_WITHOUT_HOOKS

static uint32_t text_limit;
static uint32_t may_ask;  // whether the kernel may be asked to copy memory

// ---- the table

// One block for each module that has such functions. The newest comes first, and none is ever freed, because a hook may
// be looking into it.
struct block {
    const struct block *next;
    uintptr_t bias;
    uint32_t sites;
    uint32_t steps_size;
    struct fathom_argument_site site[];  // the steps follow
};
static const struct block *blocks;

static size_t padded(size_t size) { return (size + 7) & ~7ul; }

static void tell_layouts(const char *bytes, size_t size) {
    struct fathom_layout layout;
    for (size_t at = 0; at + sizeof layout <= size; at += sizeof layout + padded(layout.size)) {
        __builtin_memcpy(&layout, bytes + at, sizeof layout);
        if (layout.size > FATHOM_LAYOUT_LIMIT || layout.size > size - at - sizeof layout) return;
        struct fathom_layout_item item = {.id = layout.id, .text_size = layout.size};
        struct part parts[] = {ITEM_BODY(item), {bytes + at + sizeof layout, layout.size}};
        metadata_append(FATHOM_ITEM_LAYOUT, parts, 2);
    }
}

void arguments_keep(uintptr_t bias, const char *bytes, size_t size) {
    struct fathom_arguments head;
    if (size < sizeof head) return;
    __builtin_memcpy(&head, bytes, sizeof head);
    size_t sites = head.sites * sizeof(struct fathom_argument_site), steps = padded(head.steps_size);
    if (sites + steps + head.layouts_size > size - sizeof head) return;
    struct block *block = system_allocate(sizeof *block + sites + head.steps_size);
    if (!block) return;
    *block = (struct block){.next = blocks, .bias = bias, .sites = head.sites, .steps_size = head.steps_size};
    __builtin_memcpy(block->site, bytes + sizeof head, sites + head.steps_size);
    tell_layouts(bytes + sizeof head + sites + steps, head.layouts_size);
    // Release: whoever finds the block finds what is in it.
    __atomic_store_n(&blocks, block, __ATOMIC_RELEASE);
}

void arguments_close(void) {
    for (const struct block *block = blocks, *next; block; block = next) {
        next = block->next;
        size_t sites = block->sites * sizeof(struct fathom_argument_site);
        system_free((void *)block, sizeof *block + sites + block->steps_size);
    }
    blocks = NULL;
}

static int comes_before(const struct fathom_argument_site *site, uint64_t return_address, uint64_t function) {
    return site->return_address != return_address ? site->return_address < return_address : site->function < function;
}

int arguments_find(uintptr_t return_address, uintptr_t function, struct argument_steps *found) {
    // Acquire: another thread may have added the block a moment ago.
    for (const struct block *block = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); block; block = block->next) {
        uint64_t wanted_function = function - block->bias;
        uint64_t wanted = return_address == RESULT_SITE ? 0 : return_address - block->bias;
        uint32_t first = 0, last = block->sites;
        while (first < last) {
            uint32_t middle = first + (last - first) / 2;
            if (comes_before(&block->site[middle], wanted, wanted_function)) first = middle + 1;
            else last = middle;
        }
        const struct fathom_argument_site *site = &block->site[first];
        if (first == block->sites || site->return_address != wanted || site->function != wanted_function) continue;
        const uint8_t *steps = (const uint8_t *)&block->site[block->sites];
        if (site->steps >= block->steps_size) return 0;
        *found = (struct argument_steps){steps + site->steps, steps + block->steps_size, site->layout, block->bias};
        return 1;
    }
    return 0;
}

// ---- memory

void arguments_open(uint32_t limit) {
    text_limit = limit < FATHOM_TEXT_LIMIT ? limit : FATHOM_TEXT_LIMIT;
    // A sandbox may end the program for asking. One that the program enters later ends the recording.
    may_ask = system_seccomp_mode() == SECCOMP_MODE_DISABLED;
}

uint32_t arguments_text_limit(void) { return text_limit; }

size_t arguments_read(void *to, uintptr_t from, size_t size, const struct argument_memory *memory) {
    if (from >= memory->low && from < memory->high && size <= memory->high - from) {
        __builtin_memcpy(to, (const void *)from, size);
        return size;
    }
    if (!may_ask || from + size < from) return 0;
    size_t done = 0;
    // The kernel copies a range whole or not at all, so each page is asked for by itself. It looks at the page as it
    // copies, so another thread may unmap it at any time.
    while (done < size) {
        size_t some = 4096 - ((from + done) & 4095);
        if (some > size - done) some = size - done;
        if (!system_copy(memory->thread, (char *)to + done, (const void *)(from + done), some)) break;
        done += some;
    }
    return done;
}

FATHOM_WITHOUT_HOOKS_END
