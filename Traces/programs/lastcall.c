// Spends 100 ms in a call that it never returns from: the signal that the argument names ends the process.

#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

#include "program.h"

APART static void last(int number) {
    struct timespec time = {0, 100000000};
    nanosleep(&time, NULL);
    raise(number);
}

int main(int argc, char **argv) {
    last(argc > 1 ? atoi(argv[1]) : SIGKILL);
    return 0;
}
