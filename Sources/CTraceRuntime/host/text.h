// Strings, without the C library: the program may have functions of the same names, with hooks.

#ifndef FATHOM_TEXT_H
#define FATHOM_TEXT_H

#include "system.h"

INTERNAL size_t text_length(const char *string) {
    size_t n = 0;
    while (string[n]) n++;
    return n;
}

// The next of several strings that lie one behind the other. The last is empty.
INTERNAL const char *text_next(const char *string) { return string + text_length(string) + 1; }

// Appends a number in decimal and a NUL, at most 11 bytes. Returns where the NUL is.
INTERNAL char *text_append_number(char *to, uint32_t number) {
    char digits[10];
    size_t count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count) *to++ = digits[--count];
    *to = 0;
    return to;
}

INTERNAL int text_starts_with(const char *string, const char *prefix) {
    while (*prefix)
        if (*string++ != *prefix++) return 0;
    return 1;
}

#endif
