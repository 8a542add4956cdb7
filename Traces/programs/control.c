// Steers its own recording: control, control paused, control signals.

#include <fathom.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile int leaves;
static volatile sig_atomic_t handled;

#define NOINLINE __attribute__((noinline))
NOINLINE static void leaf(void) { leaves++; }
NOINLINE static void before(void) { leaf(); }
NOINLINE static void during(int levels) {
    if (levels) during(levels - 1);
    leaf();
}
// Entered while recording is stopped, left while it is on.
NOINLINE static void starter(void) {
    during(2);
    fathom_start();
    leaf();
}
NOINLINE static void outer(void) {
    before();
    fathom_stop();
    during(3);
    starter();
    during(1);
}

NOINLINE static void scoped(void) {
    FATHOM_SCOPE("parse");
    leaf();
    {
        FATHOM_SCOPE("lex");
        leaf();
        leaf();
    }
    fathom_mark("first token");
    leaf();
    fathom_set_counter("queued", 7);
    fathom_set_counter("queued", 2.5);
}

static void *worker(void *argument) {
    fathom_name_thread("the worker");
    scoped();
    return argument;
}

static void tick(int number) {
    (void)number;
    fathom_mark("ticked");
    handled++;
}

// A handler interrupts hooks wherever it comes, and marks each time.
static void signals(void) {
    struct itimerval interval = {{0, 200}, {0, 200}};
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &interval, NULL);
    while (handled < 100) during(10);
    interval = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &interval, NULL);
    printf("%d marks\n", (int)handled);
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "signals") == 0) {
        signals();
        return 0;
    }
    if (count > 1) {
        before();
        fathom_start();
        leaf();
        return 0;
    }
    scoped();
    outer();
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    fathom_start_with(2, 0);
    outer();
    fathom_save();
    printf("%d leaves\n", leaves);
    return 0;
}
