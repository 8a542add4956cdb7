// A start whose parts are known: a constructor that takes 50 ms of processor time or more, main, which does some work
// by named scopes, asks for the same twice, and waits for a thread; and a mark at the end.

#include "fathom.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

__attribute__((noinline)) static void work(double milliseconds) {
    for (double end = now() + milliseconds; now() < end;) continue;
}

__attribute__((noinline)) static void read_settings(void) { work(30); }

__attribute__((constructor)) static void slow_start(void) {
    read_settings();
    work(20);
}

static sem_t loaded;
static atomic_bool is_awaited;

// Takes until main waits for it and 20 ms more, however late a busy machine lets main come to that.
static void *load(void *unused) {
    FATHOM_SCOPE("load");
    while (!is_awaited) usleep(1000);
    usleep(20000);
    sem_post(&loaded);
    return unused;
}

__attribute__((noinline)) static void open_database(void) { work(5); }

__attribute__((noinline)) static void draw(void) { work(10); }

int main(void) {
    pthread_t loader;
    sem_init(&loaded, 0, 0);
    pthread_create(&loader, NULL, load, NULL);
    {
        FATHOM_SCOPE("database");
        for (int i = 0; i < 2; i++) open_database();
    }
    {
        FATHOM_SCOPE("wait");
        is_awaited = true;
        while (sem_wait(&loaded)) continue;
    }
    {
        FATHOM_SCOPE("draw");
        draw();
    }
    fathom_mark("first frame");
    pthread_join(loader, NULL);
    puts("started");
    return 0;
}
