// Threads take a lock by turns, and hold it for a while. The program knows itself for how long each of them held it
// while others waited, and how long each waited; it prints the sums, and the longest time in which somebody always
// waited, in ns. It counts the turns that were disturbed: a thread that got no processor, and so asked for a lock later
// than it says, or took one later than it could, knows nothing certain about its wait.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 3, TURNS = 6 };
static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static long naptime;
static atomic_bool is_taken;

// One turn of a thread: it asked for the lock, had it, and gave it back.
static struct turn { long asked, taken, given; } turns[THREADS][TURNS];

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void nap(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void give_back(struct turn *turn) {
    turn->given = now();
    pthread_mutex_unlock(&contended);
}

static void hold(struct turn *turn, int thread) {
    turn->asked = now();
    pthread_mutex_lock(&contended);
    turn->taken = now();
    is_taken = 1;
    nap(naptime * (thread + 1));
    give_back(turn);
}

static void *worker(void *argument) {
    int thread = (int)(long)argument;
    for (int i = 0; i < TURNS; i++) {
        hold(&turns[thread][i], thread);
        nap(1 + thread);
    }
    return NULL;
}

static int by_asked(const void *one, const void *other) {
    long a = ((const struct turn *)one)->asked, b = ((const struct turn *)other)->asked;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    naptime = count > 1 ? atol(arguments[1]) : 10;
    // The others come when the first has the lock: nobody waits for it then while it is being taken.
    for (long i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, worker, (void *)i);
        while (!is_taken) nap(1);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    struct turn *all = &turns[0][0];
    enum { ALL = THREADS * TURNS };
    int is_known = 0;  // whether somebody waited for the lock before it was taken
    long held = 0, holds = 0, waited = 0, waits = 0, longest = 0, disturbed = 0;
    qsort(all, ALL, sizeof *all, by_asked);
    for (int i = 0; i < ALL; i++) {
        int is_waited_for = 0, is_held = 0;
        long free = all[i].asked;  // the first moment at which it could have had the lock
        for (int other = 0; other < ALL; other++) {
            is_waited_for |= all[other].asked < all[i].given && all[other].taken > all[i].given;
            if (all[other].given < all[i].taken && all[other].given > free) free = all[other].given;
            is_held |= all[other].taken < all[i].asked && all[i].asked < all[other].given;
        }
        disturbed += all[i].taken - free > 100000 || is_held != (all[i].taken - all[i].asked > 100000);
        // The first turn that somebody waits for does not count: it was not known yet that others wait for this lock.
        if (is_waited_for && is_known) {
            holds++;
            held += all[i].given - all[i].taken;
        }
        is_known |= is_waited_for;
        if (all[i].taken - all[i].asked > 100000) {
            waits++;
            waited += all[i].taken - all[i].asked;
        }
    }
    long begin = 0, end = 0;
    for (int i = 0; i < ALL; i++) {
        if (all[i].taken - all[i].asked <= 100000) continue;
        if (all[i].asked > end) begin = all[i].asked;
        if (all[i].taken > end) end = all[i].taken;
        if (end - begin > longest) longest = end - begin;
    }
    printf("holds %ld\nheld %ld\nwaits %ld\nwaited %ld\nconvoy %ld\ndisturbed %ld\n", holds, held, waits, waited,
           longest, disturbed);
    return 0;
}
