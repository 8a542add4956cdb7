// Strings, without the C library: the program may have functions of the same names, with hooks.

#ifndef FATHOM_TEXT_H
#define FATHOM_TEXT_H

#include "system.h"

INTERNAL size_t text_length(const char *string) {
    size_t n = 0;
    while (string[n]) n++;
    return n;
}

INTERNAL int text_starts_with(const char *string, const char *prefix) {
    while (*prefix)
        if (*string++ != *prefix++) return 0;
    return 1;
}

#endif
