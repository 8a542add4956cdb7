// Recursion, 100,000 calls deep unless the argument says otherwise, on a stack made for it; twice over, so that the
// way down is taken again.

#include <pthread.h>

#include "program.h"

APART static long down(long level) {
    if (level == 0) return 0;
    return down(level - 1) + 1;
}

static void *body(void *argument) {
    long level = (long)argument;
    return (void *)(down(level) + down(level / 2) + down(level));
}

int main(int argc, char **argv) {
    long level = argc > 1 ? atol(argv[1]) : 100000;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)level * 256 + (1 << 20));
    pthread_t thread;
    void *value;
    if (pthread_create(&thread, &attributes, body, (void *)level)) return 1;
    pthread_join(thread, &value);
    printf("%ld\n", (long)value);
}
