// Sleeps and runs by turns, and prints for how long it had a CPU meanwhile, in ns, by the names of its functions: a
// sleep that the C library makes, often and short; one that nobody stands before, alone and behind work; and work
// alone.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SILENT __attribute__((no_instrument_function))

SILENT static long used(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static volatile unsigned value;
__attribute__((noinline)) static void spin(int rounds) {
    for (int i = 0; i < rounds; i++) value += (unsigned)i;
}

#if defined(__x86_64__)
SILENT static void sleep_raw(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    long result = SYS_nanosleep;
    __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(NULL) : "rcx", "r11", "memory");
}
#else
SILENT static void sleep_raw(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    register long number __asm__("x8") = SYS_nanosleep, result __asm__("x0") = (long)&time;
    register long rest __asm__("x1") = 0;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(number), "r"(rest) : "memory");
}
#endif

__attribute__((noinline)) static void naps(void) {
    for (int i = 0; i < 300; i++) {
        spin(100000);
        usleep(50);
    }
}
__attribute__((noinline)) static void raw_sleep(void) { sleep_raw(72); }
__attribute__((noinline)) static void work_then_sleep(void) {
    for (int i = 0; i < 200; i++) spin(1000000);
    sleep_raw(72);
}
__attribute__((noinline)) static void sleep_in_between(void) {
    for (int i = 0; i < 5; i++) {
        for (volatile int j = 0; j < 20000000; j++) continue;
        sleep_raw(20);
    }
}
__attribute__((noinline)) static void work_alone(void) {
    for (volatile int j = 0; j < 200000000; j++) continue;
}

#define RUN(name)                                                                                                      \
    do {                                                                                                               \
        long before = used();                                                                                          \
        name();                                                                                                        \
        printf(#name " %ld\n", used() - before);                                                                       \
    } while (0)

int main(void) {
    RUN(naps);
    RUN(raw_sleep);
    RUN(work_then_sleep);
    RUN(sleep_in_between);
    RUN(work_alone);
    return 0;
}
