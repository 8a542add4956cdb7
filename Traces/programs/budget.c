// Two chains of short functions, called again and again by several threads, while one thread waits within one of them.
// Says how the sleds at the ends of these functions are: open ones lead to Fathom. Now and then, each chain calls a
// rare function at its end.

#include "program.h"

#include <pthread.h>
#include <time.h>

struct sled {
    int64_t address, function;
    uint8_t kind, rest[15];
};
extern const struct sled __start_xray_instr_map[] __attribute__((weak, visibility("hidden")));
extern const struct sled __stop_xray_instr_map[] __attribute__((weak, visibility("hidden")));

static volatile unsigned turns;
static int waits, goes_on, is_over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

QUIET static void set(int *what) {
    pthread_mutex_lock(&mutex);
    *what = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}
QUIET static void await(int *what) {
    pthread_mutex_lock(&mutex);
    while (!*what) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

APART static void a_rare(void) { turns++; }
APART static void b_rare(void) { turns++; }
APART static void a3(int n) {
    if (n % 1024 == 0) a_rare();
    turns++;
}
APART static void b3(int n) {
    if (n % 1024 == 0) b_rare();
    turns++;
}
APART static void a2(int n) {
    if (n < 0) {
        set(&waits);
        await(&goes_on);
    }
    a3(n);
    turns++;
}
APART static void b2(int n) {
    b3(n);
    turns++;
}
APART static void a1(int n) {
    a2(n);
    turns++;
}
APART static void b1(int n) {
    b2(n);
    turns++;
}
APART static void both(int n) {
    a1(n);
    b1(n);
    turns++;
}

QUIET static int is_closed(void (*function)(int)) {
    for (const struct sled *sled = __start_xray_instr_map; sled < __stop_xray_instr_map; sled++) {
        const uint8_t *code = (const uint8_t *)&sled->address + sled->address;
        if ((uintptr_t)&sled->function + (uintptr_t)sled->function != (uintptr_t)function) continue;
        if ((sled->kind == 1 || sled->kind == 2) && code[0] == 0x2e && code[1] == 0x2e) return 0;
    }
    return 1;
}
QUIET static void *waiter(void *unused) {
    a1(-1);
    return unused;
}
QUIET static void *worker(void *unused) {
    for (int n = 1; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); n = n % 4096 + 1) both(n);
    return unused;
}

// Calls both chains until the ends of these functions are closed, a minute at most.
QUIET static const char *until_closed(void (*first)(int), void (*second)(int)) {
    time_t begin = time(NULL);
    do {
        for (int n = 1; n <= 4096; n++) both(n);
        if (is_closed(first) && is_closed(second)) return "closed";
    } while (time(NULL) - begin < 60);
    return "open";
}

int main(void) {
    pthread_t waiting, working;
    pthread_create(&waiting, NULL, waiter, NULL);
    await(&waits);
    pthread_create(&working, NULL, worker, NULL);
    printf("b2 and b3 %s\n", until_closed(b2, b3));
    printf("a2 %s\n", is_closed(a2) ? "closed" : "open");
    set(&goes_on);
    pthread_join(waiting, NULL);
    printf("a2 %s\n", until_closed(a2, a3));
    for (int n = 1; n <= 1 << 20; n++) both(n);
    is_over = 1;
    pthread_join(working, NULL);
    return 0;
}
