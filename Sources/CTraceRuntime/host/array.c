#include "array.h"

#include "base.h"

FATHOM_WITHOUT_HOOKS

void *array_extend(struct array *array, size_t size) {
    if (array->used + size > array->room) {
        size_t room = array->room ? array->room * 2 : 2 * PAGE_SIZE;
        while (room < array->used + size) room *= 2;
        char *bytes = system_allocate(room);
        if (!bytes) return NULL;
        if (array->bytes) {
            __builtin_memcpy(bytes, array->bytes, array->used);
            system_free(array->bytes, array->room);
        }
        array->bytes = bytes;
        array->room = room;
    }
    array->used += size;
    return array->bytes + array->used - size;
}

void array_release(const struct array *array) {
    if (array->bytes) system_free(array->bytes, array->room);
}

FATHOM_WITHOUT_HOOKS_END
