// Functions that are called first in all the ways in which a trap in place of a hook could harm: by threads at once,
// while signals are blocked, in handlers, in a fork's child, by a library's constructor. It has a SIGTRAP handler of
// its own.
//
//   first_calls signals | threads N | fork | load LIBRARY | protect | unhandled

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

#define APART_CALL __attribute__((noipa, noinline))
#define ONE(n)                                                                                                         \
    APART_CALL int work##n(int x) { return x * (n + 3) + 1; }
#define TEN(t) ONE(t##0) ONE(t##1) ONE(t##2) ONE(t##3) ONE(t##4) ONE(t##5) ONE(t##6) ONE(t##7) ONE(t##8) ONE(t##9)
// clang-format off
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8)
// clang-format on
#define TAKE(n) work##n,
#define TAKE_TEN(t)                                                                                                    \
    TAKE(t##0) TAKE(t##1) TAKE(t##2) TAKE(t##3) TAKE(t##4) TAKE(t##5) TAKE(t##6) TAKE(t##7) TAKE(t##8) TAKE(t##9)
    static int (*const all[])(int) = {TAKE_TEN(1) TAKE_TEN(2) TAKE_TEN(3) TAKE_TEN(4) TAKE_TEN(5) TAKE_TEN(6)
                                          TAKE_TEN(7) TAKE_TEN(8)};
#define COUNT (sizeof all / sizeof *all)

APART_CALL int never_called(int x) { return x - 1; }
// The same code and another name: one entry.
int also_known(int x) __attribute__((alias("work10")));

// Data among code, with a symbol that says it is a function, and a function that reads it.
__asm__(".text\n"
        ".globl table\n.type table, @function\n"
        "table: .byte 0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x27, 0x2f\n"
        ".size table, 8\n");
extern const unsigned char table[];
APART_CALL int sum_table(void) {
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += table[i];
    return sum;
}

__attribute__((constructor)) APART_CALL static void early(void) { (void)work10(0); }

static volatile sig_atomic_t traps, alarms;
APART_CALL static void on_trap(int number) { traps += number == SIGTRAP; }
APART_CALL static void on_alarm(int number) { alarms += work20(number) != 0; }

APART_CALL static void signals(void) {
    struct sigaction action = {.sa_handler = on_trap}, before;
    sigfillset(&action.sa_mask);
    sigaction(SIGTRAP, &action, NULL);
    sigaction(SIGTRAP, NULL, &before);
    printf("own handler %d\n", before.sa_handler == on_trap);
    raise(SIGTRAP);
    __asm__ __volatile__("int3");
    printf("traps %d\n", (int)traps);

    sigset_t mask, old;
    sigfillset(&mask);
    sigprocmask(SIG_BLOCK, &mask, &old);
    printf("work %d, blocked before %d\n", work11(1), sigismember(&old, SIGTRAP));
    raise(SIGTRAP);
    printf("traps while blocked %d\n", (int)traps);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    printf("blocked now %d\n", sigismember(&mask, SIGTRAP));
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("traps afterwards %d\n", (int)traps);

    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    sigprocmask(SIG_BLOCK, &action.sa_mask, &old);
    raise(SIGALRM);
    sigfillset(&mask);
    sigdelset(&mask, SIGALRM);
    int polled = ppoll(NULL, 0, NULL, &mask);
    printf("ppoll %d, alarms %d\n", polled, (int)alarms);
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    printf("traps %d, was ignored %d\n", (int)traps, signal(SIGTRAP, SIG_DFL) == SIG_IGN);
}

static pthread_barrier_t barrier;
APART_CALL static void *run(void *result) {
    int sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        pthread_barrier_wait(&barrier);
        sum += all[i]((int)i);
    }
    *(int *)result = sum;
    return NULL;
}

APART_CALL static void threads(int count) {
    pthread_t started[64];
    int sums[64], same = 1;
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) pthread_create(&started[i], NULL, run, &sums[i]);
    for (int i = 0; i < count; i++) pthread_join(started[i], NULL);
    for (int i = 0; i < count; i++) same &= sums[i] == sums[0];
    printf("sums %d %d\n", sums[0], same);
}

APART_CALL static void forks(void) {
    printf("parent %d\n", work30(1));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("child %d %d\n", work30(2), work31(3));
        fflush(stdout);
        _exit(work32(4) & 7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("parent %d %d\n", work31(5), WEXITSTATUS(status));
}

APART_CALL static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    int (*call)(int) = library ? (int (*)(int))dlsym(library, "library_call") : NULL;
    if (call) printf("library %d\n", call(1));
    else printf("%s\n", dlerror());
}

// The program takes the right to write to its code away itself.
APART_CALL static void protect(void) {
    long size = sysconf(_SC_PAGESIZE);
    char *page = (char *)((unsigned long)work40 & ~((unsigned long)size - 1));
    printf("%d\n", mprotect(page, (size_t)size, PROT_READ | PROT_EXEC));
    printf("work %d\n", work40(1) + work41(2));
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    printf("table %d\n", sum_table());
    if (!strcmp(what, "signals")) signals();
    if (!strcmp(what, "threads")) threads(atoi(argv[2]));
    if (!strcmp(what, "fork")) forks();
    if (!strcmp(what, "load")) load(argv[2]);
    if (!strcmp(what, "protect")) protect();
    fflush(stdout);
    if (!strcmp(what, "unhandled")) __asm__ __volatile__("int3");
    return argc > 9 ? never_called(argc) + also_known(argc) : 0;
}
