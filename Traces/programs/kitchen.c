// A guest, the main thread, waits for the cook to serve soup, and then for the sink that the cook scrubs.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t soup;
static pthread_mutex_t sink = PTHREAD_MUTEX_INITIALIZER;

static void take_time(int milliseconds) {
    struct timespec time = {0, milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

static void boil(void) { take_time(200); }
static void serve(void) { sem_post(&soup); }
static void scrub(void) { take_time(100); }
static void leave_sink(void) { pthread_mutex_unlock(&sink); }

static void *cook(void *nothing) {
    pthread_mutex_lock(&sink);
    boil();
    serve();
    scrub();
    leave_sink();
    return nothing;
}

static void wait_for_soup(void) {
    while (sem_wait(&soup)) continue;
}

static void wash_up(void) {
    pthread_mutex_lock(&sink);
    pthread_mutex_unlock(&sink);
}

static void dine(void) {
    wait_for_soup();
    wash_up();
}

int main(void) {
    pthread_t thread;
    if (sem_init(&soup, 0, 0) || pthread_create(&thread, NULL, cook, NULL)) return 1;
    dine();
    return pthread_join(thread, NULL);
}
