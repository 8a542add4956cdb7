#include "system.h"

#include "apart.h"
#include "base.h"
#include "locks.h"

#include <fcntl.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

static uintptr_t digit(char c) { return (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

struct question {
    uintptr_t address;
    struct mapping found;
    int is_found;
};

static void look(void *argument) {
    struct question *question = argument;
    long descriptor = system_open("/proc/self/maps", O_RDONLY);
    if (descriptor < 0) return;
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
                is_found = ++field == 3 && line.high > question->address;
            } else if (field < 2) {
                uintptr_t *number = field == 0 ? &line.low : &line.high;
                *number = *number << 4 | digit(c);
            } else if (field == 2) {
                line.rights |= c == 'r' ? PROT_READ : c == 'w' ? PROT_WRITE : c == 'x' ? PROT_EXEC : 0;
            }
        }
    }
    system_close(descriptor);
    question->found = line;
    question->is_found = is_found;
}

int maps_find(uintptr_t address, struct mapping *found) {
    static _Alignas(16) char stack[4096];  // the caller's may be small
    struct question question = {.address = address};
    uint64_t signals = lock_take_within(LOCK_MAPS, STACK_ROOM_SMALL);
    // A descriptor would be seen: another thread may count on getting its number.
    int is_asked = apart_call_on(stack + sizeof stack, look, &question);
    lock_give(LOCK_MAPS, signals);
    if (!is_asked) return 0;
    *found = question.found;
    return question.is_found;
}

FATHOM_WITHOUT_HOOKS_END
