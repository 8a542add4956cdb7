#include "maps.h"

#include "base.h"

#include <fcntl.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

static uintptr_t digit(char c) { return (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

int maps_find(uintptr_t address, struct mapping *found) {
    long descriptor = system_open("/proc/self/maps", O_RDONLY);
    if (descriptor < 0) return 0;
    char bytes[512];
    struct mapping line = {0, 0, 0};
    int field = 0, is_found = 0;  // field 0: low, 1: high, 2: rights, 3: the rest of the line
    long size;
    while (!is_found && (size = system_read(descriptor, bytes, sizeof bytes)) > 0) {
        for (long i = 0; i < size && !is_found; i++) {
            char c = bytes[i];
            if (c == '\n') {
                line = (struct mapping){0, 0, 0};
                field = 0;
            } else if (field < 3 && (c == ' ' || (field == 0 && c == '-'))) {
                is_found = ++field == 3 && line.high > address;
            } else if (field < 2) {
                uintptr_t *number = field == 0 ? &line.low : &line.high;
                *number = *number << 4 | digit(c);
            } else if (field == 2) {
                line.rights |= c == 'r' ? PROT_READ : c == 'w' ? PROT_WRITE : c == 'x' ? PROT_EXEC : 0;
            }
        }
    }
    system_close(descriptor);
    *found = line;
    return is_found;
}

FATHOM_WITHOUT_HOOKS_END
