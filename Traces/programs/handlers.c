// Signal handlers that leave a hook they interrupted for a while, or for ever: `fork` (the child goes on in the
// interrupted code), `quiet` (the same, and the handler has no hooks), `twice` and `again` (as `fork` and `quiet`, and
// the child forks once more before the handler returns), `jump` (setjmp and longjmp within the handler), `vfork`.
// Prints how many handlers ran well.

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "program.h"

#define ROUNDS 100

static volatile int handled, good, child, steps;
static char kind;
static jmp_buf target;

APART static void leap(void) { longjmp(target, 1); }

APART static int leaf(int n) { return n + 1; }

// A signal that came during the last handler interrupts the same instruction again, so that is no round.
QUIET static int begins(void) {
    static int begun_at;
    if (child || handled >= ROUNDS || steps == begun_at) return 0;
    begun_at = steps;
    handled++;
    return 1;
}

QUIET static int ends_well(pid_t pid) {
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

QUIET static void fork_quietly(int number) {
    (void)number;
    if (!begins()) return;
    pid_t pid = kind == 'v' ? vfork() : fork();
    if (pid == 0 && kind == 'v') _exit(leaf(6));
    if (pid == 0) {
        child = 1;
        if (kind == 't') leaf(number);
        pid_t grandchild = kind == 't' || kind == 'a' ? fork() : 0;
        if (kind == 't') leaf(number);
        if (grandchild != 0 && !ends_well(grandchild)) _exit(1);
        return;
    }
    good += ends_well(pid);
}

static void handler(int number) {
    if (kind != 'j') {
        fork_quietly(number);
        return;
    }
    if (!begins()) return;
    if (setjmp(target) == 0) leap();
    good++;
}

int main(int argc, char **argv) {
    kind = argc > 1 ? *argv[1] : 'f';
    signal(SIGALRM, kind == 'q' || kind == 'a' ? fork_quietly : handler);
    struct itimerval often = {{0, 700}, {0, 700}};
    setitimer(ITIMER_REAL, &often, NULL);
    int sum = 0;
    for (; handled < ROUNDS && !child; steps++) sum = leaf(sum) & 0xff;
    for (int i = 0; child && i < 1000; i++) sum = leaf(sum) & 0xff;
    if (child) _exit(7);
    printf("%d of %d\n", good, handled);
    return 0;
}
