// The main thread's calls go 60 deep, those of a second thread one.
#include <pthread.h>

static volatile int sink;

__attribute__((noinline)) static void deeper(int depth) {
    if (depth > 1) deeper(depth - 1);
    for (int i = 0; i < 1000; i++) sink++;
}

__attribute__((noinline)) static void shallow(void) {
    for (int i = 0; i < 100000; i++) sink++;
}

static void *work(void *argument) {
    shallow();
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    deeper(60);
    pthread_join(thread, 0);
}
