// Runs until it is killed, and counts in a shared file (its argument) the calls it has surely made: a call of `leaf` is
// counted once it has returned. The second number in the file is the process. Ten calls of `outer`, one of `forever`
// and main are open all the time.

#include <sys/mman.h>

#include "program.h"

static volatile long *progress;

APART static void leaf(void) { KEEP(progress); }

APART static void forever(void) {
    for (;;) {
        leaf();
        progress[0] = progress[0] + 1;
        for (int j = 0; j < 4000; j++) KEEP(j);
    }
}

APART static void outer(int level) {
    if (level) outer(level - 1);
    else forever();
}

int main(int argc, char **argv) {
    int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
    if (file < 0 || ftruncate(file, 4096)) return 64;
    progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    progress[1] = getpid();
    outer(9);
}
