// Spends 100 ms in a call that it never returns from, or the time until the file is there that the second argument
// names: the signal that the first one names ends the process.

#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

#include "program.h"

APART static void last(int number, const char *path) {
    struct timespec time = {0, 100000000};
    do nanosleep(&time, NULL);
    while (path && access(path, F_OK) != 0);
    raise(number);
}

int main(int argc, char **argv) {
    last(argc > 1 ? atoi(argv[1]) : SIGKILL, argc > 2 ? argv[2] : NULL);
    return 0;
}
