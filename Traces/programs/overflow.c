// Overflows the stack of a thread again and again, and survives by a handler on another stack that jumps away.
//   overflow TIMES

#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "program.h"

static sigjmp_buf back;
static volatile long handled;

APART static long recurse(long n) {
    volatile char room[16];
    room[0] = (char)n;
    return n < 0 ? 0 : recurse(n + 1) + room[0];
}

APART static void overflown(int number) {
    (void)number;
    handled++;
    siglongjmp(back, 1);
}

APART static void *run(void *times) {
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = overflown, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    for (volatile long i = 0; i < (long)times; i++)
        if (!sigsetjmp(back, 1)) recurse(0);
    return NULL;
}

int main(int argc, char **argv) {
    long times = argc > 1 ? atol(argv[1]) : 1;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_t thread;
    pthread_create(&thread, &attributes, run, (void *)times);
    pthread_join(thread, NULL);
    printf("handled %ld\n", handled);
}
