// Hangs in the way that its argument names, for a time in milliseconds or until it is killed. Each way is a function of
// that name.

#include <errno.h>
#include <fathom.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long milliseconds;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t read_write = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static int ends[2];

static void wait_for(long time) {
    struct timespec left = {time / 1000, time % 1000 * 1000000};
    while (nanosleep(&left, &left) && errno == EINTR) continue;
}

__attribute__((no_instrument_function)) static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static pthread_t start(void *(*body)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL)) abort();
    return thread;
}

// Threads that have what the main thread wants, for as long as it is to wait.
static void *hold_mutex(void *unused) {
    pthread_mutex_lock(&first);
    write(ends[1], "", 1);
    wait_for(milliseconds);
    pthread_mutex_unlock(&first);
    return unused;
}

static void *hold_read_write(void *unused) {
    pthread_rwlock_wrlock(&read_write);
    write(ends[1], "", 1);
    wait_for(milliseconds);
    pthread_rwlock_unlock(&read_write);
    return unused;
}

static void *sleep_long(void *unused) {
    write(ends[1], "", 1);
    wait_for(milliseconds);
    return unused;
}

static void slow_once(void) {
    write(ends[1], "", 1);
    wait_for(milliseconds);
}

static void *hold_once(void *unused) {
    pthread_once(&once, slow_once);
    return unused;
}

static void *hold_stream(void *unused) {
    flockfile(stderr);
    write(ends[1], "", 1);
    wait_for(milliseconds);
    funlockfile(stderr);
    return unused;
}

static void begin(void *(*body)(void *)) {
    char byte;
    start(body);
    read(ends[0], &byte, 1);
}

static void hang_sleep(void) { wait_for(milliseconds); }
static void hang_spin(void) {
    for (double end = now() + (double)milliseconds; now() < end;) continue;
}
static void hang_mutex(void) {
    begin(hold_mutex);
    pthread_mutex_lock(&first);
}
static void hang_rwlock(void) {
    begin(hold_read_write);
    pthread_rwlock_rdlock(&read_write);
}
static void hang_condition(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += milliseconds / 1000 + 1;
    pthread_mutex_lock(&first);
    pthread_cond_timedwait(&condition, &first, &end);
    pthread_mutex_unlock(&first);
}
static void hang_semaphore(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += milliseconds / 1000 + 1;
    sem_timedwait(&semaphore, &end);
}
static void hang_barrier(void) { pthread_barrier_wait(&barrier); }
static void hang_once(void) {
    begin(hold_once);
    pthread_once(&once, slow_once);
}
static void hang_stream(void) {
    begin(hold_stream);
    fputs("free\n", stderr);
}
static void hang_join(void) { pthread_join(start(sleep_long), NULL); }
static void hang_pipe(void) {
    char byte;
    read(ends[0], &byte, 1);
}
static void hang_full_pipe(void) {
    static char bytes[1 << 20];
    write(ends[1], bytes, sizeof bytes);
}
static void hang_socket(void) {
    int sockets[2];
    char byte;
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    recv(sockets[0], &byte, 1, 0);
}
static void hang_poll(void) {
    struct pollfd descriptor = {ends[0], POLLIN, 0};
    poll(&descriptor, 1, (int)milliseconds);
}
static void hang_epoll(void) {
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    epoll_wait(set, &event, 1, (int)milliseconds);
}
static void hang_fork(void) {
    pid_t child = fork();
    if (!child) {
        wait_for(milliseconds);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}
static void hang_flock(void) {
    char name[] = "/tmp/fathom-hangs-XXXXXX", byte;
    int file = mkstemp(name);
    pid_t child = fork();
    if (!child) {
        int mine = open(name, O_RDWR);
        flock(mine, LOCK_EX);
        write(ends[1], "", 1);
        wait_for(milliseconds);
        _exit(0);
    }
    read(ends[0], &byte, 1);
    unlink(name);
    flock(file, LOCK_EX);
}
static void hang_signal(void) {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
}
static void hang_select(void) {
    fd_set set;
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000};
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    select(ends[0] + 1, &set, NULL, NULL, &time);
}

// Two threads that take two mutexes in different orders.
static void *take_both(void *unused) {
    pthread_mutex_lock(&second);
    write(ends[1], "", 1);
    wait_for(100);
    pthread_mutex_lock(&first);
    return unused;
}
static void hang_deadlock(void) {
    char byte;
    pthread_mutex_lock(&first);
    start(take_both);
    read(ends[0], &byte, 1);
    pthread_mutex_lock(&second);
}
static void hang_self(void) {
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&first);
}
// A request lies between two marks, and as much time without one follows. The first one launches the program.
static void hang_requests(void) {
    fathom_mark("request begins");
    wait_for(milliseconds);
    fathom_mark("request ends");
    fathom_mark("launched");
    wait_for(milliseconds);
}
// The two threads are not the main one, which is never long in one call.
static void *take_first(void *unused) {
    pthread_mutex_lock(&first);
    wait_for(100);
    pthread_mutex_lock(&second);
    return unused;
}
static void work(void) { wait_for(10); }

static const struct {
    const char *name;
    void (*hang)(void);
} ways[] = {
    {"sleep", hang_sleep},       {"spin", hang_spin},           {"mutex", hang_mutex},
    {"rwlock", hang_rwlock},     {"condition", hang_condition}, {"semaphore", hang_semaphore},
    {"barrier", hang_barrier},   {"once", hang_once},           {"stream", hang_stream},
    {"join", hang_join},         {"pipe", hang_pipe},           {"full-pipe", hang_full_pipe},
    {"socket", hang_socket},     {"poll", hang_poll},           {"epoll", hang_epoll},
    {"fork", hang_fork},         {"flock", hang_flock},         {"signal", hang_signal},
    {"select", hang_select},     {"deadlock", hang_deadlock},   {"self", hang_self},
    {"requests", hang_requests},
};

int main(int argc, char **argv) {
    if (argc < 3 || pipe(ends)) return 2;
    milliseconds = atol(argv[2]);
    int times = argc > 3 ? atoi(argv[3]) : 1;
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 0);
    if (!strcmp(argv[1], "workers")) {
        pthread_t threads[] = {start(take_first), start(take_both)};
        (void)threads;
        for (double end = now() + (double)milliseconds; now() < end;) work();
        return 0;
    }
    if (!strcmp(argv[1], "threads"))
        for (int i = 0; i < 70; i++) start(sleep_long);
    const char *way = strcmp(argv[1], "threads") ? argv[1] : "sleep";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int time = 0; time < times && !strcmp(way, ways[i].name); time++) ways[i].hang();
    return 0;
}
