// Signals that interrupt traced code, the hooks included, at any instruction.
//   signals timer     a fast timer; the handler calls traced functions
//   signals altstack  the same on an alternate stack
//   signals late      the fast timer, in a thread's very last destructor, behind the tracer's own
//   signals kill      four threads signal one another
//   signals stopped   the fast timer, while the parent, which is the recorder, is stopped
//   signals escape    the handler leaves by siglongjmp, so hooks are abandoned half-way
// A second argument is the fast timer's period in microseconds, for an emulator, where a handler takes its time.
// What cannot differ is printed; TRUTH receives "function calls" for the calls that were made.

#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "program.h"

#define ROUNDS 100000

static int period = 50;
static atomic_long handled, helped, stepped, ended, after_calls;
static sigjmp_buf landing;
static volatile sig_atomic_t escapes;

APART static void helper(void) { helped++; }

static void handler(int signal) {
    KEEP(signal);
    handled++;
    helper();
    helper();
}

static void escaper(int signal) {
    handled++;
    helper();
    if (escapes) siglongjmp(landing, signal);
}

APART static void leaf(void) { ended++; }

APART static void step(void) {
    stepped++;
    leaf();
}

APART static void after(void) { after_calls++; }

QUIET static void handle(int number, void (*function)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = function;
    action.sa_flags = flags | SA_RESTART;
    sigaction(number, &action, NULL);
}

QUIET static void timer(int microseconds) {
    struct itimerval value = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &value, NULL);
}

static void storm(void) {
    timer(period);
    for (long i = 0; i < ROUNDS || handled < 500; i++) step();
    timer(0);
}

static void stopped_storm(void) {
    kill(getppid(), SIGSTOP);
    storm();
    kill(getppid(), SIGCONT);
}

static pthread_key_t key;
static int rounds;

static void late(void *value) {
    pthread_setspecific(key, value);
    if (++rounds == PTHREAD_DESTRUCTOR_ITERATIONS) storm();
}

static void *late_thread(void *argument) {
    pthread_setspecific(key, &key);
    return argument;
}

static void late_storm(void) {
    sigset_t alarm, before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_key_create(&key, late);
    pthread_t thread;
    pthread_create(&thread, NULL, late_thread, NULL);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static pthread_t threads[4];
static pthread_barrier_t ready;

static void *peer(void *argument) {
    long self = (long)argument;
    pthread_barrier_wait(&ready);
    for (int i = 0; i < ROUNDS / 4; i++) {
        step();
        if (i % 10 == 0) pthread_kill(threads[(self + 1 + i / 10 % 3) % 4], SIGUSR1);
    }
    pthread_barrier_wait(&ready);
    return NULL;
}

static void kill_storm(void) {
    pthread_barrier_init(&ready, NULL, 4);
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, peer, (void *)i);
    for (long i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

// `step` and `leaf` may be left between their hook and their count, so this storm does not count them.
static void escape_storm(void) {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    volatile int rounds = 0;
    while (rounds < 500) {
        if (sigsetjmp(landing, 1) == 0) {
            escapes = 1;
            timer(100);
            for (;;) step();
        }
        escapes = 0;
        timer(0);
        sigprocmask(SIG_BLOCK, &alarm, NULL);
        after();
        sigprocmask(SIG_UNBLOCK, &alarm, NULL);
        rounds = rounds + 1;
    }
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "timer";
    int escape = !strcmp(kind, "escape");
    if (argc > 2) period = atoi(argv[2]);
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    if (!strcmp(kind, "altstack")) sigaltstack(&stack, NULL);
    handle(SIGALRM, escape ? escaper : handler, !strcmp(kind, "altstack") ? SA_ONSTACK : 0);
    handle(SIGUSR1, handler, 0);
    if (escape) escape_storm();
    else if (!strcmp(kind, "kill")) kill_storm();
    else if (!strcmp(kind, "late")) late_storm();
    else if (!strcmp(kind, "stopped")) stopped_storm();
    else storm();
    FILE *truth = truth_open();
    if (truth) {
        fprintf(truth, "%s %ld\nhelper %ld\nafter %ld\n", escape ? "escaper" : "handler", handled, helped, after_calls);
        if (!escape) fprintf(truth, "step %ld\nleaf %ld\n", stepped, ended);
        fclose(truth);
    }
    printf("%s: steps %s, handled %s\n", kind, stepped == ended || escape ? "whole" : "broken", handled ? "yes" : "no");
}
