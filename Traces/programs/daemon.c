// Becomes a daemon (two processes end, descriptors and working directory go), works on, and leaves its result in the
// file that the first argument names.

#define _DEFAULT_SOURCE
#include "program.h"

APART static int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }

APART static void report(int result) {
    write(result, "done\n", 5);
    close(result);
}

int main(int argc, char **argv) {
    int result = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_CREAT, 0666);
    work(10);
    if (daemon(0, 0)) return 1;
    work(15);
    report(result);
    return 3;
}
