// Becomes a daemon that gives up its rights when it has any to give up, and serves once the file that the second
// argument names holds something, or after 20 seconds. The first argument is how many calls.

#define _DEFAULT_SOURCE
#include <grp.h>

#include "program.h"

APART static void leaf(long n) { KEEP(n); }

APART static void serve(long calls) {
    for (long i = 0; i < calls; i++) leaf(i);
}

int main(int argc, char **argv) {
    long calls = argc > 1 ? atol(argv[1]) : 1000;
    int go = argc > 2 ? open(argv[2], O_RDONLY | O_CREAT, 0600) : -1;
    if (daemon(0, 0)) return 1;
    if (getuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534))) return 1;
    for (int i = 0; i < 20000 && lseek(go, 0, SEEK_END) == 0; i++) usleep(1000);
    serve(calls);
    return 0;
}
