// Functions that are entered and left in all the ways that matter to sleds, and count their own calls. Prints a line
// for each: its name and how often it was called.
//
//   sleds [rounds]

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

#define COUNTED(name)                                                                                                  \
    static long name##_calls;                                                                                          \
    APART
#define CALLED(name) __atomic_fetch_add(&name##_calls, 1, __ATOMIC_RELAXED)

struct Error {
    int value;
};

static jmp_buf landing;
typedef double four __attribute__((vector_size(32), aligned(16)));

extern "C" {
COUNTED(mixed) double mixed(long a, double b, long c, double d, float e, long f, long g, long h, long i, double j) {
    CALLED(mixed);
    return double(a + c + f + g + h + i) + b + d + double(e) + j;
}
COUNTED(wide) void wide(const four *a, four *result) {
    CALLED(wide);
    *result = *a + *a;
}
COUNTED(last) long last(long value) {
    CALLED(last);
    KEEP(value);
    return value + 1;
}
COUNTED(tail) long tail(long value) {
    CALLED(tail);
    KEEP(value);
    return last(value * 2);
}
COUNTED(recursive) long recursive(long level) {
    CALLED(recursive);
    if (level == 0) return 0;
    long below = recursive(level - 1);
    KEEP(below);
    return below + level;
}
COUNTED(throws) void throws(int value) {
    CALLED(throws);
    if (value >= 0) throw Error{value};
}
COUNTED(passes) void passes(int value) {
    CALLED(passes);
    throws(value);
    KEEP(value);
}
COUNTED(catches) int catches(int value) {
    CALLED(catches);
    try {
        passes(value);
    } catch (const Error &error) {
        return error.value;
    }
    return -1;
}
COUNTED(jumps) void jumps(int value) {
    CALLED(jumps);
    KEEP(value);
    longjmp(landing, value + 1);
}
COUNTED(lands) int lands(int value) {
    CALLED(lands);
    int landed = setjmp(landing);
    if (landed == 0) jumps(value);
    return landed;
}
COUNTED(handles) void handles(int number) {
    CALLED(handles);
    KEEP(number);
}
COUNTED(worker) void *worker(void *rounds) {
    CALLED(worker);
    long sum = 0;
    for (long i = 0; i < (long)rounds; i++) sum += recursive(i % 7) + tail(i);
    return (void *)sum;
}
}

int main(int count, char **arguments) {
    long rounds = count > 1 ? atol(arguments[1]) : 100;
    double total = 0;
    signal(SIGUSR1, handles);
    pthread_t threads[3];
    for (pthread_t &thread : threads) pthread_create(&thread, NULL, worker, (void *)rounds);
    for (long i = 0; i < rounds; i++) {
        four vector = {double(i), 1, 2, 3}, twice;
        wide(&vector, &twice);
        total += mixed(i, 0.5, 2, 0.25, 1.5f, 3, 4, 5, 6, 0.125) + twice[0] + twice[3];
        total += catches(int(i)) + lands(int(i)) + double(recursive(i % 5)) + double(tail(i));
        if (i % 16 == 0) raise(SIGUSR1);
    }
    for (pthread_t thread : threads) {
        void *sum;
        pthread_join(thread, &sum);
        total += double((long)sum);
    }
    printf("total %.3f\n", total);
#define TELL(name) printf("%s %ld\n", #name, name##_calls)
    TELL(mixed), TELL(wide), TELL(last), TELL(tail), TELL(recursive), TELL(throws), TELL(passes), TELL(catches);
    TELL(jumps), TELL(lands), TELL(handles), TELL(worker);
    fflush(stdout);
    // A child has its parent's open sleds.
    pid_t child = fork();
    if (child == 0) _exit(recursive(4) == 10 ? 0 : 1);
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
