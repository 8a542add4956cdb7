// A thread works and naps, and the main thread waits for its end.
#include <pthread.h>
#include <unistd.h>

static volatile int sum;

static void work(void) {
    for (int i = 0; i < 2000000; i++) sum += i;
}

static void nap(void) { usleep(40000); }

static void *worker(void *argument) {
    for (int i = 0; i < 2; i++) {
        work();
        nap();
    }
    return argument;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL)) return 1;
    return pthread_join(thread, NULL);
}
