// Calls functions that a preloaded library stands before (interposer.c).

#define _DEFAULT_SOURCE
#include "program.h"

APART static void work(void) {
    usleep(1000);
    free(valloc(100));
}

int main(void) {
    for (int i = 0; i < 3; i++) work();
    fflush(stdout);
}
