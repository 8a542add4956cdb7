// Makes threads wait for each other in as many ways as there are, all at once, while the main thread goes on. Each way
// is a circle of threads that are called by its name; those that have a time limit end by it, the others with the
// program. Prints, for each circle, its name, and for how many ms its last thread waited.
//
// Arguments: how long circles with a time limit last, and how long the program runs, in ms. A third one, `loop`, makes
// those with a time limit begin again as long as the program runs.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SILENT __attribute__((no_instrument_function))
#define MOST 3

enum way { LOCK, TIMED, CLOCK, PLAIN_C11, WRITE, READ, JOIN };
// Who takes the first lock and, when all have theirs, waits for the next one's, or for the next one's end.
struct circle {
    const char *name;
    int threads;
    enum way ways[MOST];
    int type, protocol, robustness, shared;
    pthread_mutex_t mutexes[MOST];
    pthread_rwlock_t rwlocks[MOST];
    mtx_t others[MOST];
    pthread_t ids[MOST];
    pthread_barrier_t ready;
    double began, ended;
};

#define ALL(way)                                                                                                       \
    { way, way, way }
static struct circle circles[] = {
    {.name = "plain", .threads = 2, .ways = ALL(LOCK)},
    {.name = "timed", .threads = 2, .ways = ALL(TIMED)},
    {.name = "clock", .threads = 2, .ways = ALL(CLOCK)},
    {.name = "recursive", .threads = 2, .ways = ALL(LOCK), .type = PTHREAD_MUTEX_RECURSIVE},
    {.name = "checked", .threads = 2, .ways = ALL(LOCK), .type = PTHREAD_MUTEX_ERRORCHECK},
    {.name = "adaptive", .threads = 2, .ways = ALL(LOCK), .type = PTHREAD_MUTEX_ADAPTIVE_NP},
    {.name = "robust", .threads = 2, .ways = ALL(LOCK), .robustness = PTHREAD_MUTEX_ROBUST},
    {.name = "shared", .threads = 2, .ways = ALL(LOCK), .shared = PTHREAD_PROCESS_SHARED},
    {.name = "inherit", .threads = 2, .ways = ALL(LOCK), .protocol = PTHREAD_PRIO_INHERIT},
    {.name = "inherit_timed", .threads = 2, .ways = ALL(CLOCK), .protocol = PTHREAD_PRIO_INHERIT},
    {.name = "inherit_three", .threads = 3, .ways = ALL(LOCK), .protocol = PTHREAD_PRIO_INHERIT},
    {.name = "three", .threads = 3, .ways = ALL(LOCK)},
    {.name = "itself", .threads = 1, .ways = ALL(LOCK)},
    {.name = "itself_timed", .threads = 1, .ways = ALL(TIMED)},
    {.name = "itself_inherit", .threads = 1, .ways = ALL(LOCK), .protocol = PTHREAD_PRIO_INHERIT},
    {.name = "c11", .threads = 2, .ways = ALL(PLAIN_C11)},
    {.name = "writers", .threads = 2, .ways = ALL(WRITE)},
    {.name = "reader", .threads = 2, .ways = {READ, WRITE}},
    {.name = "mixed", .threads = 3, .ways = {LOCK, WRITE, TIMED}},
    {.name = "joins", .threads = 3, .ways = ALL(JOIN)},
    {.name = "join_and_lock", .threads = 2, .ways = {JOIN, LOCK}},
};
#define COUNT (sizeof circles / sizeof *circles)

static long limit, length;
static int loops;

SILENT static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

SILENT static struct timespec after(clockid_t clock, long milliseconds) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += milliseconds % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

SILENT static int is_timed(const struct circle *c, int i) { return c->ways[i] == TIMED || c->ways[i] == CLOCK; }

SILENT static void take(struct circle *c, int i) {
    // What the thread before this one waits for.
    enum way wanted = c->ways[(i + c->threads - 1) % c->threads];
    if (wanted == WRITE || wanted == READ) pthread_rwlock_wrlock(&c->rwlocks[i]);
    else if (wanted == PLAIN_C11) mtx_lock(&c->others[i]);
    else if (wanted != JOIN) pthread_mutex_lock(&c->mutexes[i]);
}

SILENT static void give(struct circle *c, int i) {
    enum way wanted = c->ways[(i + c->threads - 1) % c->threads];
    if (wanted == WRITE || wanted == READ) pthread_rwlock_unlock(&c->rwlocks[i]);
    else if (wanted == PLAIN_C11) mtx_unlock(&c->others[i]);
    else if (wanted != JOIN) pthread_mutex_unlock(&c->mutexes[i]);
}

// Waits for what the next thread has.
__attribute__((noinline)) static int wait_for_next(struct circle *c, int i) {
    int next = (i + 1) % c->threads, result = -1;
    struct timespec until = after(c->ways[i] == CLOCK ? CLOCK_MONOTONIC : CLOCK_REALTIME, limit);
    switch (c->ways[i]) {
    case LOCK: result = pthread_mutex_lock(&c->mutexes[next]); break;
    case TIMED: result = pthread_mutex_timedlock(&c->mutexes[next], &until); break;
    case CLOCK: result = pthread_mutex_clocklock(&c->mutexes[next], CLOCK_MONOTONIC, &until); break;
    case PLAIN_C11: result = mtx_lock(&c->others[next]); break;
    case WRITE: result = pthread_rwlock_wrlock(&c->rwlocks[next]); break;
    case READ: result = pthread_rwlock_rdlock(&c->rwlocks[next]); break;
    case JOIN: result = pthread_join(c->ids[next], NULL); break;
    }
    return result;
}

struct member {
    struct circle *circle;
    int index;
};

static void *live(void *argument) {
    struct member *member = argument;
    struct circle *c = member->circle;
    int i = member->index;
    pthread_setname_np(pthread_self(), c->name);
    do {
        take(c, i);
        pthread_barrier_wait(&c->ready);
        // The last one to wait is the last of the circle, so that it is known since when there is one.
        usleep((unsigned)(i + 1) * 40000);
        if (i == c->threads - 1) c->began = now();
        int result = wait_for_next(c, i);
        if (!c->ended) c->ended = now();
        if (result == 0 && c->ways[i] != JOIN) {
            struct circle *same = c;
            int next = (i + 1) % c->threads;
            if (same->ways[i] == WRITE || same->ways[i] == READ) pthread_rwlock_unlock(&same->rwlocks[next]);
            else if (same->ways[i] == PLAIN_C11) mtx_unlock(&same->others[next]);
            else pthread_mutex_unlock(&same->mutexes[next]);
        }
        give(c, i);
        if (loops) pthread_barrier_wait(&c->ready);
    } while (loops);
    return NULL;
}

SILENT static void make(struct circle *c) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, c->type);
    pthread_mutexattr_setprotocol(&attributes, c->protocol);
    pthread_mutexattr_setrobust(&attributes, c->robustness);
    pthread_mutexattr_setpshared(&attributes, c->shared);
    pthread_barrier_init(&c->ready, NULL, (unsigned)c->threads);
    for (int i = 0; i < c->threads; i++) {
        if (pthread_mutex_init(&c->mutexes[i], &attributes) || mtx_init(&c->others[i], mtx_plain)) abort();
        pthread_rwlock_init(&c->rwlocks[i], NULL);
    }
    for (int i = 0; i < c->threads; i++) {
        struct member *member = malloc(sizeof *member);
        *member = (struct member){c, i};
        if (pthread_create(&c->ids[i], NULL, live, member)) abort();
    }
}

__attribute__((noinline)) static void tick(void) { usleep(20000); }

int main(int count, char **arguments) {
    if (count < 3) return 2;
    limit = atol(arguments[1]);
    length = atol(arguments[2]);
    loops = count > 3 && !strcmp(arguments[3], "loop");
    double end = now() + (double)length;
    for (size_t i = 0; i < COUNT; i++)
        if (!loops || is_timed(&circles[i], 0)) make(&circles[i]);
    while (now() < end) tick();
    for (size_t i = 0; i < COUNT; i++) {
        struct circle *c = &circles[i];
        if (c->began) printf("%s %.0f\n", c->name, (c->ended && !loops ? c->ended : now()) - c->began);
    }
    fflush(stdout);
    _exit(0);
}
