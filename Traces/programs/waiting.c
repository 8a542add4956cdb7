// Makes calls, makes the file that its first argument names, waits until there is the file that the second names, and
// makes calls again.

#include "program.h"

APART static void before(int n) { KEEP(n); }
APART static void after(int n) { KEEP(n); }

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    for (int i = 0; i < 100; i++) before(i);
    close(open(argv[1], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    for (int i = 0; access(argv[2], F_OK) && i < 20000; i++) usleep(1000);
    for (int i = 0; i < 100; i++) after(i);
}
