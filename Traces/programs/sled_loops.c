// Functions that begin with a loop, where clang lays the sled of a function's beginning into that loop. Prints how
// often each was called: `name count` a line; and what they have worked out, in the last line.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline))
typedef volatile unsigned word;

// A loop that tests first, one that tests last, and one that calls.
APART void polls(word *status, word *go) {
    while (!(*status & 0x80)) *go = 1, *status += 1;
}
APART void turns(word *status) {
    do *status += 1;
    while (!(*status & 0x40));
}
APART void touches(word *status) { *status += 1; }
APART void calls(word *status) {
    while (!(*status & 0x20)) touches(status);
}
// Leads back by a table alone, by several branches, and to itself as its last call.
APART int scans(const unsigned char *text) {
    for (;;) {
        switch (*text++) {
        case 0: return 1;
        case 1: continue;
        case 2: return 7;
        case 3: continue;
        case 4: return 9;
        case 5: return -3;
        case 6: text++; continue;
        default: return 0;
        }
    }
}
APART unsigned falls(word *status) {
    if (*status & 0x10) return *status;
    *status += 1;
    return falls(status);
}
// Values of its own, which are kept below the stack pointer where nothing is called.
APART void keeps(word *status) {
    word last;
    while (!(*status & 0x80)) {
        if (*status & 1) *status += last;
        last = *status & 1;
        *status += 1;
    }
}
// Left by a jump and called again from the same place: another call.
static jmp_buf place;
APART void leaps(word *status) {
    while (!(*status & 0x08)) {
        *status += 1;
        if (*status == 4) longjmp(place, 1);
    }
}
// In a handler, wherever it comes.
static word handled;
APART void spins(word *status) {
    while (!(*status & 0x04)) *status += 1;
}
static void handler(int signal) {
    (void)signal;
    word status = 0;
    spins(&status);
    handled += status;
}

int main(void) {
    unsigned sum = 0;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 10; i++) {
        word status = 0, go = 0, other = 0, inner = 0, last = 0, kept = 0;
        polls(&status, &go);
        turns(&other);
        calls(&inner);
        keeps(&kept);
        sum += status + other + go + inner + kept;
        sum += (unsigned)scans((const unsigned char *)"\3\1\1\3\6\7\1\4");
        sum += falls(&last);
        raise(SIGUSR1);
    }
    word status = 0;
    for (volatile int i = 0; i < 2; i++)
        if (setjmp(place) == 0) leaps(&status);
    printf("polls 10\nturns 10\ncalls 10\ntouches 320\nscans 10\nkeeps 10\nspins 10\nleaps 2\nmain 1\n");
    printf("sum %u, %u, %u\n", sum, status, handled);
}
