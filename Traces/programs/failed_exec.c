// Tries to become a program that does not exist, and spends 100 ms in the call that tried.

#include <time.h>

#include "program.h"

APART static void next(void) { KEEP(0); }

APART static void try(void) {
    next();
    char *arguments[] = {"none", NULL};
    execv("/nonexistent/none", arguments);
    struct timespec time = {0, 100000000};
    nanosleep(&time, NULL);
    next();
}

int main(void) {
    try();
    return 0;
}
