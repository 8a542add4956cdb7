// Resource limits that leave a tracer no room; the argument says which:
//   fsize   files may not grow (SIGXFSZ would end the program)
//   nofile  no descriptor beyond 3
//   as      little address space
//   nproc   no further process or thread
//   stack   a small stack in every thread

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "program.h"

APART static int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }

QUIET static void limit(int resource, rlim_t value) {
    struct rlimit limit = {value, value};
    if (setrlimit(resource, &limit)) perror("setrlimit");
}

static void *body(void *argument) { return (void *)(long)work((int)(long)argument); }

// A thread on the smallest stack there may be.
APART static long small_thread(int n) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    pthread_t thread;
    void *value = NULL;
    if (pthread_create(&thread, &attributes, body, (void *)(long)n)) return -1;
    pthread_join(thread, &value);
    return (long)value;
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "fsize";
    long sum = work(10);
    if (!strcmp(which, "fsize")) limit(RLIMIT_FSIZE, 4096);
    if (!strcmp(which, "nofile")) limit(RLIMIT_NOFILE, 3);
    if (!strcmp(which, "as")) limit(RLIMIT_AS, 64 << 20);
    if (!strcmp(which, "nproc")) limit(RLIMIT_NPROC, 1);
    sum += work(24);
    if (!strcmp(which, "stack") || !strcmp(which, "fsize")) sum += small_thread(10);
    printf("%s: sum %ld\n", which, sum);
}
