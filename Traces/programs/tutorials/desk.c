// desk: three workers answer requests, and a keeper tidies up what they all use, now and then. With -DCHECKS=2, each
// answer is checked twice as thoroughly.

#include <pthread.h>
#include <unistd.h>

#ifndef CHECKS
#define CHECKS 1
#endif
#define WORKERS 3

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;

static void count(long n) {
    for (long i = 0; i < n; i++) sum += i;
}

static void parse(int id) { count(3000 + id % 7 * 500); }

static void look_up(int id) {
    pthread_mutex_lock(&books);
    count(2000 + id % 3);
    pthread_mutex_unlock(&books);
}

static void check(int line) { count(4000L * CHECKS + line); }

static void render(int id) {
    for (int line = 0; line < 20 + id % 2; line++) check(line);
}

static void request(int id) {
    parse(id);
    look_up(id);
    render(id);
}

static void write_down(void) { usleep(15000); }

static void tidy_up(void) {
    pthread_mutex_lock(&books);
    count(2000000);
    write_down();
    pthread_mutex_unlock(&books);
}

static void *worker(void *first) {
    for (int id = (int)(long)first; id < 1200; id += WORKERS) {
        request(id);
        usleep(300);
    }
    return NULL;
}

static void *keeper(void *none) {
    for (int i = 0; i < 4; i++) {
        usleep(60000);
        tidy_up();
    }
    return none;
}

int main(void) {
    pthread_t threads[WORKERS + 1];
    for (long i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    pthread_create(&threads[WORKERS], NULL, keeper, NULL);
    for (int i = 0; i <= WORKERS; i++) pthread_join(threads[i], NULL);
    return 0;
}
