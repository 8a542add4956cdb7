// Names that the program gives. At its first use, a name is copied and written to the metadata; from then on, an id
// stands for it. Signal handlers give names too, so the table must do without a lock: whoever comes first sets an
// entry, and nobody changes it again.

#include "metadata.h"

FATHOM_WITHOUT_HOOKS

#define TABLE_SIZE 8192u
#define COUNT_LIMIT (TABLE_SIZE / 2)
#define ARENA_SIZE (256u * 1024)

struct name {
    uint32_t kind;
    uint32_t size;
    char text[];
};

static uint32_t table[TABLE_SIZE];  // ids by hash, linear probing; 0: empty
// An id is the place of its name in the arena. The arena is only address space until names are given.
static _Alignas(8) char arena[ARENA_SIZE];
static uint32_t arena_used = sizeof(struct name);  // 0 is no id
static uint32_t count;

static struct name *name_at(uint32_t id) { return (struct name *)(arena + id); }

void names_forget(void) {
    __builtin_memset(table, 0, sizeof table);
    __builtin_memset(arena, 0, arena_used < ARENA_SIZE ? arena_used : ARENA_SIZE);
    arena_used = sizeof(struct name);
    count = 0;
}

// How many bytes of a name are kept. The last UTF-8 sequence is kept whole or not at all.
static uint32_t kept(const char *text) {
    uint32_t size = 0;
    while (size < FATHOM_NAME_LIMIT && text[size]) size++;
    if (size == FATHOM_NAME_LIMIT && text[size])
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) size--;
    return size;
}

// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo).
static uint32_t hash_of(uint32_t kind, const char *text, uint32_t size) {
    uint32_t hash = 2166136261u ^ kind;
    for (uint32_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static uint32_t add(uint32_t kind, const char *text, uint32_t size) {
    uint32_t room = ((uint32_t)sizeof(struct name) + size + 7) & ~7u;
    if (fathom_load32(&count) >= COUNT_LIMIT || fathom_load32(&arena_used) > ARENA_SIZE - room) return 0;
    // The addition gives each name a part of the arena for itself. The loads before it only keep the sum from wrapping
    // around, so they need not be one step with it.
    uint32_t id = fathom_add32(&arena_used, room);
    if (id > ARENA_SIZE - room) return 0;
    struct name *name = name_at(id);
    name->kind = kind;
    name->size = size;
    __builtin_memcpy(name->text, text, size);
    return id;
}

static void tell(uint32_t id) {
    const struct name *name = name_at(id);
    struct fathom_name_item item = {.id = id, .kind = name->kind, .text_size = name->size};
    struct part parts[] = {ITEM_BODY(item), {name->text, name->size}};
    metadata_append(FATHOM_ITEM_NAME, parts, 2);
}

static uint32_t find(uint32_t kind, const char *text, int is_added) {
    uint32_t size = kept(text), hash = hash_of(kind, text, size), mine = 0;
    for (uint32_t probe = 0; probe < TABLE_SIZE; probe++) {
        // Acquire pairs with the swap below, which releases the name's text together with its id.
        uint32_t *entry = &table[(hash + probe) % TABLE_SIZE], id = fathom_load32(entry);
        if (!id) {
            if (!is_added) return 0;
            if (!mine) mine = add(kind, text, size);
            if (!mine) return 0;
            if (fathom_swap32(entry, 0, mine)) {
                fathom_add32(&count, 1);
                tell(mine);
                return mine;
            }
            id = fathom_load32(entry);
        }
        const struct name *name = name_at(id);
        if (name->kind == kind && name->size == size && __builtin_memcmp(name->text, text, size) == 0) return id;
    }
    return 0;
}

uint32_t name_known(uint32_t kind, const char *text) { return find(kind, text, 0); }

uint32_t name_intern(uint32_t kind, const char *text) { return find(kind, text, 1); }

FATHOM_WITHOUT_HOOKS_END
