// Works in four threads while somebody attaches and leaves: calls, exceptions, library calls, and handlers of signals
// that sleep in the midst of calls. Each round has one right result. SIGTERM ends it; the exit status is 7 if all were
// right.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

static std::atomic<bool> ends;
static std::atomic<long> wrong, rounds[4], handled_count, slept_count;
static thread_local volatile int depth_of_handler;

KEEP unsigned long leaf(unsigned long n) { return n * 2654435761u + 1; }
KEEP unsigned long deep(int n, unsigned long seed) { return n ? deep(n - 1, leaf(seed)) + leaf(n) : seed; }
struct Object {
    unsigned long &count;
    KEEP ~Object() { count++; }
};
KEEP unsigned long thrower(int n, unsigned long &destroyed) {
    Object object{destroyed};
    if (!n) throw std::runtime_error("deep");
    return thrower(n - 1, destroyed) + leaf(n);
}
KEEP unsigned long catcher(int n) {
    unsigned long destroyed = 0;
    try {
        return thrower(n, destroyed);
    } catch (const std::exception &error) {
        return destroyed * 1000 + strlen(error.what());
    }
}
KEEP int compared(const void *a, const void *b) { return *static_cast<const int *>(a) - *static_cast<const int *>(b); }
KEEP unsigned long sorted(int seed) {
    int values[32];
    for (int i = 0; i < 32; i++) values[i] = static_cast<int>(leaf(seed + i) % 1000);
    qsort(values, 32, sizeof *values, compared);
    unsigned long sum = 0;
    for (int i = 0; i < 32; i++) sum = sum * 31 + values[i];
    return sum;
}
KEEP unsigned long text(int n) {
    char buffer[64];
    snprintf(buffer, sizeof buffer, "%d-%d", n, n * 7);
    return strlen(buffer) + strtoul(buffer, nullptr, 10);
}
KEEP unsigned long round_of(int n) { return deep(30, n) ^ catcher(n % 12) * 3 ^ sorted(n) * 5 ^ text(n) * 7; }

static unsigned long expected[16];

KEEP void nap(long microseconds) {
    timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (nanosleep(&time, &time) && errno == EINTR) {
    }
}
KEEP unsigned long slept(int n, long microseconds) {
    if (n) return slept(n - 1, microseconds) + leaf(n);
    nap(microseconds);
    return 1;
}
static unsigned long slept_right;

// Sleeps in the midst of calls, on whatever it has interrupted.
static void sleeping(int) {
    int error = errno;
    if (slept(8, 30000) != slept_right) wrong++;
    slept_count++;
    errno = error;
}
static void quick(int) {
    int error = errno;
    if (deep(5, 1) != expected[15]) wrong++;
    handled_count++;
    errno = error;
}

static void *work(void *argument) {
    long me = reinterpret_cast<long>(argument);
    for (int n = 0; !ends; n++) {
        if (round_of(n % 12) != expected[n % 12]) wrong++;
        rounds[me]++;
    }
    return nullptr;
}
static void *doze(void *) {
    while (!ends) {
        raise(SIGUSR1);
        if (catcher(3) != expected[14]) wrong++;
    }
    return nullptr;
}

int main(int count, char **arguments) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    for (int n = 0; n < 12; n++) expected[n] = round_of(n);
    expected[14] = catcher(3);
    expected[15] = deep(5, 1);
    slept_right = slept(8, 1);
    struct sigaction action = {};
    action.sa_flags = SA_RESTART;
    action.sa_handler = sleeping;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_handler = quick;
    sigaction(SIGUSR2, &action, nullptr);
    sigset_t end, old;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, &old);
    pthread_t workers[4], dozing[2];
    for (long i = 0; i < 4; i++) pthread_create(&workers[i], nullptr, work, reinterpret_cast<void *>(i));
    for (auto &thread : dozing) pthread_create(&thread, nullptr, doze, nullptr);
    unsigned turn = 0;
    for (;;) {
        timespec time = {0, 3000000};
        if (sigtimedwait(&end, nullptr, &time) == SIGTERM) break;
        turn++;
        pthread_kill(workers[turn % 4], turn % 64 == 5 ? SIGUSR1 : SIGUSR2);
        if (count > 1 && turn % 256 == 0) {
            FILE *file = fopen(arguments[1], "w");
            if (file) {
                fprintf(file, "wrong %ld rounds %ld %ld %ld %ld handled %ld slept %ld\n", wrong.load(),
                        rounds[0].load(), rounds[1].load(), rounds[2].load(), rounds[3].load(), handled_count.load(),
                        slept_count.load());
                fclose(file);
            }
        }
    }
    ends = true;
    for (auto &thread : workers) pthread_join(thread, nullptr);
    for (auto &thread : dozing) pthread_join(thread, nullptr);
    return wrong ? 1 : 7;
}
