#include "CRustNames.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct output {
    char *room;
    size_t size, used;
    jmp_buf full;
};

// libiberty asks nobody whether it is to go on. What it has allocated by then is one identifier that is not ASCII,
// which is lost.
static void append(const char *text, size_t count, void *argument) {
    struct output *output = argument;
    if (count > output->size - output->used) longjmp(output->full, 1);
    memcpy(output->room + output->used, text, count);
    output->used += count;
}

size_t rust_name(const char *mangled, char *room, size_t size) {
    struct output output = {.room = room, .size = size, .used = 0};
    if (setjmp(output.full)) return 0;
    return rust_demangle_callback(mangled, 0, append, &output) ? output.used : 0;
}
