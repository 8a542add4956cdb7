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

// Legacy names have letters beyond ASCII as `$u` and their number in hex. libiberty leaves these as they are.
static size_t decode_letters(char *name, size_t size) {
    size_t to = 0;
    for (size_t from = 0; from < size;) {
        unsigned letter = 0;
        size_t at = from + 2;
        if (size - from > 3 && name[from] == '$' && name[from + 1] == 'u')
            for (; at < size && at < from + 8; at++) {
                int is_digit = name[at] >= '0' && name[at] <= '9';
                if (!is_digit && !(name[at] >= 'a' && name[at] <= 'f')) break;
                letter = letter << 4 | (unsigned)(is_digit ? name[at] - '0' : name[at] - 'a' + 10);
            }
        int is_letter = letter >= 0x80 && letter < 0x110000 && (letter < 0xd800 || letter > 0xdfff);
        if (!is_letter || at >= size || name[at] != '$') {
            name[to++] = name[from++];
            continue;
        }
        // As UTF-8 (RFC 3629), which takes less room.
        int rest = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
        static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
        name[to++] = (char)(first[rest] | letter >> 6 * rest);
        while (rest--) name[to++] = (char)(0x80 | (letter >> 6 * rest & 0x3f));
        from = at + 1;
    }
    return to;
}

size_t rust_name(const char *mangled, char *room, size_t size) {
    struct output output = {.room = room, .size = size, .used = 0};
    if (setjmp(output.full)) return 0;
    return rust_demangle_callback(mangled, 0, append, &output) ? decode_letters(room, output.used) : 0;
}
