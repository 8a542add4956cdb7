// Calls of the C library that fail, wait, block signals, unwind and fork, each of which says what came of it.
//
//   program SEED COUNT FIRST    makes COUNT of them, by SEED: in this thread, in another one, in a child, with signals
//   blocked

#include "counted.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>

#define SAY(call)                                                                                                      \
    do {                                                                                                               \
        errno = 0;                                                                                                     \
        long said = (long)(call);                                                                                      \
        say(#call, said, errno);                                                                                       \
    } while (0)
#define SAY_ZERO(call) SAY(!(call))

static void say(const char *call, long result, int error) { printf("%.60s = %ld, %d\n", call, result, error); }

static void *const wild = (void *)8;
static const struct timespec past = {1, 0}, short_time = {0, 2000000};
static volatile sig_atomic_t caught;
static volatile void *sink;

static void handler(int number) {
    (void)number;
    caught = caught + 1;
}

static void catch_signal(int number, int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    SAY(sigaction(number, &action, NULL));
}

static void ignore_signal(int number) { signal(number, SIG_IGN); }

static void say_mask(const char *where) {
    sigset_t mask;
    char text[65];
    sigprocmask(SIG_BLOCK, NULL, &mask);
    // While first calls are recorded, no handler blocks SIGTRAP, and it sees that.
    if (!strcmp(where, "in a handler")) sigdelset(&mask, SIGTRAP);
    for (int i = 1; i < 65; i++) text[i - 1] = sigismember(&mask, i) == 1 ? '1' : '0';
    text[64] = 0;
    printf("%s: mask %s\n", where, text);
}

static void masked_handler(int number) {
    (void)number;
    say_mask("in a handler");
}

static void *in_thread(void *(*function)(void *), void *argument) {
    pthread_t thread;
    void *result = NULL;
    // Says nothing of its beginning, which the thread may come before.
    if (pthread_create(&thread, NULL, function, argument)) abort();
    SAY(pthread_join(thread, &result));
    return result;
}

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 5000000;
    if (time.tv_nsec >= 1000000000) time.tv_sec++, time.tv_nsec -= 1000000000;
    return time;
}

// ---- locks

static void *lock_and_end(void *mutex) { return (void *)(long)pthread_mutex_lock(mutex); }

static void *try_lock(void *mutex) {
    SAY(pthread_mutex_trylock(mutex));
    SAY(pthread_mutex_timedlock(mutex, &past));
    struct timespec until = soon(CLOCK_MONOTONIC);
    SAY(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until));
    SAY(pthread_mutex_unlock(mutex));
    return NULL;
}

static void mutexes(void) {
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    for (unsigned i = 0; i < 4; i++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, types[i]);
        pthread_mutex_t mutex;
        SAY(pthread_mutex_init(&mutex, &attributes));
        SAY(pthread_mutex_lock(&mutex));
        if (i) SAY(pthread_mutex_trylock(&mutex));
        if (i == 1) SAY(pthread_mutex_lock(&mutex));
        if (i == 1) in_thread(try_lock, &mutex);
        SAY(pthread_mutex_unlock(&mutex));
        if (i == 1) SAY(pthread_mutex_unlock(&mutex));
        pthread_mutexattr_destroy(&attributes);
    }
}

static void robust_mutexes(void) {
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        if (i == 2) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_t mutex;
        pthread_mutex_init(&mutex, &attributes);
        in_thread(lock_and_end, &mutex);
        SAY(i == 1 ? pthread_mutex_trylock(&mutex) : pthread_mutex_lock(&mutex));
        if (i != 1) SAY(pthread_mutex_consistent(&mutex));
        SAY(pthread_mutex_unlock(&mutex));
        SAY(pthread_mutex_lock(&mutex));
        SAY(pthread_mutex_trylock(&mutex));
    }
}

static void ceilings(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    SAY(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT));
    SAY(pthread_mutexattr_setprioceiling(&attributes, 1));
    pthread_mutex_t mutex;
    SAY(pthread_mutex_init(&mutex, &attributes));
    int result;
    SAY(result = pthread_mutex_trylock(&mutex));
    if (!result) SAY(pthread_mutex_unlock(&mutex));
    SAY(result = pthread_mutex_lock(&mutex));
    if (!result) SAY(pthread_mutex_unlock(&mutex));
}

static void *try_rwlock(void *lock) {
    SAY(pthread_rwlock_tryrdlock(lock));
    SAY(pthread_rwlock_trywrlock(lock));
    SAY(pthread_rwlock_timedrdlock(lock, &past));
    struct timespec until = soon(CLOCK_REALTIME);
    SAY(pthread_rwlock_timedwrlock(lock, &until));
    return NULL;
}

static void rwlocks(void) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    SAY(pthread_rwlock_wrlock(&lock));
    SAY(pthread_rwlock_rdlock(&lock));
    in_thread(try_rwlock, &lock);
    SAY(pthread_rwlock_unlock(&lock));
}

static void *post(void *semaphore) {
    nanosleep(&short_time, NULL);
    sem_post(semaphore);
    return NULL;
}

static void semaphores(void) {
    sem_t semaphore;
    SAY(sem_init(&semaphore, 0, 1));
    SAY(sem_trywait(&semaphore));
    SAY(sem_trywait(&semaphore));
    SAY(sem_timedwait(&semaphore, &past));
    struct timespec until = soon(CLOCK_MONOTONIC), wrong = {1, 2000000000};
    SAY(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until));
    SAY(sem_timedwait(&semaphore, &wrong));
    pthread_t thread;
    pthread_create(&thread, NULL, post, &semaphore);
    int result;
    do SAY(result = sem_wait(&semaphore));
    while (result);
    pthread_join(thread, NULL);
    SAY(sem_post(&semaphore));
    SAY(sem_clockwait(&semaphore, 77, &until));
}

static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int condition_holds;

static void *make_hold(void *argument) {
    pthread_mutex_lock(&condition_mutex);
    condition_holds = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&condition_mutex);
    return argument;
}

static void conditions(void) {
    pthread_mutex_lock(&condition_mutex);
    condition_holds = 0;
    SAY(pthread_cond_timedwait(&condition, &condition_mutex, &past));
    struct timespec until = soon(CLOCK_MONOTONIC);
    SAY(pthread_cond_clockwait(&condition, &condition_mutex, CLOCK_MONOTONIC, &until));
    pthread_t thread;
    pthread_create(&thread, NULL, make_hold, NULL);
    while (!condition_holds) pthread_cond_wait(&condition, &condition_mutex);
    pthread_mutex_unlock(&condition_mutex);
    SAY(pthread_join(thread, NULL));
}

static int c11_thread(void *argument) {
    mtx_t *mutex = argument;
    SAY(mtx_trylock(mutex));
    SAY(mtx_timedlock(mutex, &past));
    thrd_exit(9);
}

static void c11(void) {
    mtx_t mutex;
    cnd_t changed;
    thrd_t thread;
    int result = 0;
    SAY(mtx_init(&mutex, mtx_timed));
    SAY(mtx_lock(&mutex));
    if (thrd_create(&thread, c11_thread, &mutex) != thrd_success) abort();
    SAY(thrd_join(thread, &result));
    SAY(result);
    SAY(cnd_init(&changed));
    SAY(cnd_timedwait(&changed, &mutex, &past));
    SAY(thrd_sleep(&short_time, NULL));
    SAY(mtx_unlock(&mutex));
}

static void *wait_at_barrier(void *barrier) {
    pthread_barrier_wait(barrier);
    return NULL;
}

static void barriers(void) {
    pthread_barrier_t barrier;
    SAY(pthread_barrier_init(&barrier, NULL, 0));
    SAY(pthread_barrier_init(&barrier, NULL, 2));
    pthread_t thread;
    pthread_create(&thread, NULL, wait_at_barrier, &barrier);
    wait_at_barrier(&barrier);
    SAY(pthread_join(thread, NULL));
    pthread_spinlock_t spin;
    SAY(pthread_spin_init(&spin, 0));
    SAY(pthread_spin_lock(&spin));
    SAY(pthread_spin_trylock(&spin));
}

// ---- threads

static void *returning(void *argument) { return argument; }

static void cleaner(void *argument) { printf("cleaning %ld\n", (long)argument); }

static sem_t never;
static int silent[2];

static void *wait_in(void *argument) {
    char byte;
    struct timespec until = {4000000000, 0};
    pthread_cleanup_push(cleaner, argument);
    switch ((long)argument) {
    case 0: sem_wait(&never); break;
    case 1: read(silent[0], &byte, 1); break;
    case 2: pause(); break;
    case 3: sem_timedwait(&never, &until); break;
    case 4: poll(NULL, 0, -1); break;
    case 5: sleep(1000); break;
    case 6: sem_clockwait(&never, CLOCK_REALTIME, &until); break;
    case 7:
        for (;;) pthread_testcancel();
    default:
        pthread_mutex_lock(&condition_mutex);
        pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &condition_mutex);
        for (;;) pthread_cond_wait(&condition, &condition_mutex);
        pthread_cleanup_pop(1);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancellations(void) {
    sem_init(&never, 0, 0);
    if (pipe(silent)) abort();
    for (long i = 0; i < 9; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, wait_in, (void *)i);
        if (i % 2) nanosleep(&short_time, NULL);
        if (pthread_cancel(thread)) abort();
        SAY(pthread_join(thread, &result));
        SAY(result == PTHREAD_CANCELED);
    }
    close(silent[0]);
    close(silent[1]);
}

static void *canceled_at_once(void *argument) {
    SAY(pthread_cancel(pthread_self()));
    // Available: no wait, and yet a point where a thread is cancelled.
    sem_post(argument);
    sem_clockwait(argument, CLOCK_MONOTONIC, &past);
    printf("sem_clockwait is no point to cancel at\n");
    pthread_testcancel();
    return argument;
}

static void pending_cancellation(void) {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    SAY(in_thread(canceled_at_once, &semaphore) == PTHREAD_CANCELED);
}

static pthread_key_t key;
static void destroy_key(void *value) {
    printf("key %ld\n", (long)value);
    if ((long)value > 1) pthread_setspecific(key, (void *)((long)value - 1));
}
static void *use_key(void *argument) {
    SAY(pthread_setspecific(key, argument));
    pthread_exit((void *)4);
}

static void thread_calls(void) {
    SAY(pthread_key_create(&key, destroy_key));
    SAY(in_thread(use_key, (void *)3));
    SAY(pthread_key_delete(key));
    SAY(pthread_join(pthread_self(), NULL));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    SAY(pthread_attr_setstacksize(&attributes, 1));
    SAY(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + 16384));
    pthread_t thread;
    SAY(pthread_create(&thread, &attributes, returning, NULL));
    SAY(pthread_join(thread, NULL));
    SAY(pthread_setname_np(pthread_self(), "much longer than that"));
    SAY(pthread_setname_np(pthread_self(), "named"));
    char name[16];
    SAY(pthread_getname_np(pthread_self(), name, 16));
    puts(name);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    SAY(pthread_attr_setsigmask_np(&attributes, &mask));
    pthread_create(&thread, &attributes, (void *(*)(void *))say_mask, (void *)"in a thread with a mask");
    pthread_join(thread, NULL);
    SAY(pthread_kill(pthread_self(), 99));
}

// ---- signals

static void signals(void) {
    struct sigaction action = {.sa_handler = masked_handler}, old;
    SAY(sigaction(SIGKILL, &action, NULL));
    SAY(sigaction(99, &action, NULL));
    sigfillset(&action.sa_mask);
    SAY(sigaction(SIGUSR1, &action, &old));
    SAY(raise(SIGUSR1));
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_NODEFER | SA_RESETHAND;
    SAY(sigaction(SIGUSR1, &action, &old));
    SAY(old.sa_handler == masked_handler);
    SAY(old.sa_flags & ~0x04000000);
    SAY(raise(SIGUSR1));
    SAY(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
    sigset_t set, got;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    SAY(pthread_sigmask(SIG_BLOCK, &set, NULL));
    SAY(pthread_sigmask(77, &set, NULL));
    say_mask("blocked");
    catch_signal(SIGUSR2, 0);
    SAY(raise(SIGUSR2));
    SAY(sigpending(&got));
    SAY(sigismember(&got, SIGUSR2));
    int number = 0;
    SAY(sigwait(&set, &number));
    SAY(number);
    SAY(sigtimedwait(&set, NULL, &short_time));
    int file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    struct signalfd_siginfo info;
    SAY(read(file, &info, sizeof info));
    raise(SIGUSR2);
    SAY(read(file, &info, sizeof info));
    SAY(info.ssi_signo);
    close(file);
    raise(SIGUSR2);
    sigset_t none;
    sigemptyset(&none);
    SAY(sigsuspend(&none));
    raise(SIGUSR2);
    struct pollfd nothing = {-1, 0, 0};
    SAY(ppoll(&nothing, 1, &short_time, &none));
    raise(SIGUSR2);
    SAY(pselect(0, NULL, NULL, NULL, &short_time, &none));
    SAY(pthread_sigmask(SIG_UNBLOCK, &set, NULL));
    SAY(caught);
    SAY(kill(getpid(), 0));
    SAY(kill(0x7ffffff0, 0));
}

static void on_alarm(int number) { (void)number; }

static void interrupted(void) {
    // Comes again and again: the first one may come before the call.
    struct itimerval timer = {{0, 3000}, {0, 3000}}, none = {{0, 0}, {0, 0}};
    struct timespec rest, sleeping = {20, 0};
    struct sigaction action = {.sa_handler = on_alarm};
    char byte;
    int pipes[2], epoll = epoll_create1(0);
    struct epoll_event event;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    if (pipe(pipes)) abort();
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    SAY(nanosleep(&sleeping, &rest));
    SAY(rest.tv_sec < 20);
    SAY(read(pipes[0], &byte, 1));
    SAY(poll(NULL, 0, 20000));
    SAY(sem_wait(&semaphore));
    SAY(pause());
    SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &sleeping, &rest));
    SAY(usleep(900000));
    SAY(epoll_wait(epoll, &event, 1, 20000));
    SAY(sleep(20) > 0);
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    SAY(poll(NULL, 0, 20000));
    setitimer(ITIMER_REAL, &none, NULL);
    close(epoll);
    close(pipes[0]);
    close(pipes[1]);
    signal(SIGALRM, SIG_IGN);
}

static sigjmp_buf landing;
static void jump_back(int number) { siglongjmp(landing, number); }

static void faults(void) {
    struct sigaction action = {.sa_handler = jump_back}, old, old_bus;
    sigaction(SIGSEGV, &action, &old);
    sigaction(SIGFPE, &action, &old_bus);
    volatile int rounds = 0;
    int number = sigsetjmp(landing, 1);
    if (number) printf("landed by %d\n", number);
    rounds = rounds + 1;
    if (rounds < 4) sink = (void *)(long)*(volatile char *)wild;
    if (rounds < 6) {
        volatile int zero = 0;
        sink = (void *)(long)(rounds / zero);
    }
    say_mask("landed");
    sigaction(SIGSEGV, &old, NULL);
    sigaction(SIGFPE, &old_bus, NULL);
}

static long recurse(volatile char *before) {
    volatile char here[1024];
    here[0] = before ? before[0] : 1;
    return recurse(here) + here[0];
}

static void overflow(void) {
    // In a child, since a thread's stack can be small: the main thread's is limited first.
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {300000, 300000};
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_STACK, &limit);
        static char stack[65536];
        stack_t signal_stack = {.ss_sp = stack, .ss_size = sizeof stack};
        sigaltstack(&signal_stack, NULL);
        struct sigaction action = {.sa_handler = jump_back, .sa_flags = SA_ONSTACK};
        sigaction(SIGSEGV, &action, NULL);
        if (sigsetjmp(landing, 1) == 0) recurse(NULL);
        _exit(42);
    }
    int status = 0;
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
}

static ucontext_t outside, inside;
static void in_context(void) {
    say_mask("in a context");
    swapcontext(&inside, &outside);
    say_mask("in a context again");
}

static void contexts(void) {
    static char stack[65536];
    SAY(getcontext(&inside));
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    sigaddset(&inside.uc_sigmask, SIGUSR1);
    makecontext(&inside, in_context, 0);
    SAY(swapcontext(&outside, &inside));
    say_mask("outside");
    SAY(swapcontext(&outside, &inside));
    say_mask("outside again");
}

// ---- files

static void files(void) {
    char bytes[16];
    struct iovec vector = {wild, 4};
    SAY(open("/none/such", O_RDONLY));
    SAY(open("/", O_WRONLY));
    SAY(open(wild, O_RDONLY));
    SAY(open("/proc/self/exe/x", O_RDONLY));
    SAY(read(-1, bytes, 1));
    SAY(write(999, bytes, 1));
    SAY(close(-1));
    SAY(close(999));
    int file = open("/dev/null", O_RDWR | O_CLOEXEC), zero = open("/dev/zero", O_RDONLY),
        full = open("/dev/full", O_WRONLY);
    SAY(read(zero, wild, 1));
    SAY(readv(zero, &vector, 1));
    SAY(readv(zero, &vector, -1));
    SAY(readv(zero, wild, 1));
    SAY(writev(file, wild, 2));
    SAY(write(full, bytes, 4));
    SAY(pread(zero, bytes, 4, -1));
    SAY(lseek(file, 0, 77));
    SAY(fcntl(file, F_GETFD));
    SAY(fcntl(file, 9999));
    SAY(dup2(file, -1));
    SAY(dup2(-1, file));
    SAY(flock(file, 77));
    SAY(ftruncate(zero, 1));
    close(file);
    close(zero);
    close(full);
    SAY_ZERO(fopen("/none/such", "r"));
    FILE *stream = fopen("/dev/full", "w");
    SAY(fputs("text", stream));
    SAY(fflush(stream));
    SAY(fclose(stream));
    stream = fopen("made", "a");
    SAY(fputs("a line\n", stream));
    SAY(fclose(stream));
    SAY(rename("made", "/none/such"));
    SAY(mkdir("made", 0777));
    SAY(unlink("/"));
}

static void descriptors(void) {
    int first = open("/dev/null", O_RDONLY), second = dup(first);
    printf("descriptors %d %d\n", first, second);
    close(first);
    SAY(fcntl(second, F_DUPFD, 100));
    SAY(fcntl(second, F_DUPFD_CLOEXEC, 200));
    SAY(close(100) + close(200));
    // As daemons do.
    for (int i = 3; i < 1024; i++) close(i);
    first = open("/dev/null", O_RDONLY);
    printf("descriptor %d\n", first);
    SAY(close_range(3, ~0u, 0));
    struct rlimit limit, small = {8, 8};
    getrlimit(RLIMIT_NOFILE, &limit);
    small.rlim_max = limit.rlim_max;
    SAY(setrlimit(RLIMIT_NOFILE, &small));
    for (int i = 0; i < 7; i++) SAY(dup(1));
    for (int i = 3; i < 8; i++) close(i);
    SAY(setrlimit(RLIMIT_NOFILE, &limit));
}

static void pipes(void) {
    int ends[2], sockets[2];
    char bytes[64] = "";
    struct timeval timeout = {0, 3000};
    ignore_signal(SIGPIPE);
    SAY(pipe(wild));
    SAY(pipe2(ends, O_NONBLOCK));
    SAY(read(ends[0], bytes, 4));
    SAY(write(ends[1], bytes, 4));
    SAY(read(ends[0], bytes, 64));
    close(ends[0]);
    SAY(write(ends[1], bytes, 4));
    close(ends[1]);
    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    SAY(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout));
    SAY(recv(sockets[0], bytes, 4, 0));
    SAY(recv(sockets[0], bytes, 4, MSG_DONTWAIT));
    SAY(send(sockets[1], wild, 4, 0));
    SAY(send(sockets[1], bytes, 4, 0));
    SAY(recvfrom(sockets[0], wild, 4, 0, NULL, NULL));
    struct iovec vector = {bytes, 4};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    SAY(send(sockets[1], bytes, 4, 0));
    SAY(recvmsg(sockets[0], &message, 0));
    SAY(recvmsg(sockets[0], wild, 0));
    SAY(sendmsg(sockets[0], wild, 0));
    SAY(recvmmsg(sockets[0], wild, 1, 0, NULL));
    SAY(accept(sockets[0], NULL, NULL));
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "none"};
    SAY(connect(sockets[0], (struct sockaddr *)&address, sizeof address));
    SAY(connect(999, wild, 4));
    close(sockets[1]);
    SAY(recv(sockets[0], bytes, 4, 0));
    SAY(send(sockets[0], bytes, 4, 0));
    close(sockets[0]);
}

static void polls(void) {
    struct pollfd bad = {999, POLLIN, 0};
    struct epoll_event event;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(60, &set);
    SAY(poll(wild, 1, 0));
    SAY(poll(&bad, 1, 0));
    SAY(bad.revents);
    SAY(poll(NULL, 0, 3));
    SAY(ppoll(wild, 1, NULL, NULL));
    struct timeval zero = {0, 0};
    SAY(select(61, &set, NULL, NULL, &zero));
    SAY(select(-1, NULL, NULL, NULL, NULL));
    SAY(select(1, wild, NULL, NULL, &zero));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    SAY(epoll_wait(epoll, &event, 0, 0));
    SAY(epoll_wait(epoll, wild, 1, 0));
    SAY(epoll_wait(epoll, &event, 1, 3));
    SAY(epoll_wait(999, &event, 1, 0));
    SAY(epoll_ctl(epoll, EPOLL_CTL_ADD, 999, &event));
    int number = eventfd(1, EFD_NONBLOCK);
    uint64_t value;
    SAY(read(number, &value, 8));
    SAY(read(number, &value, 8));
    SAY(read(number, &value, 4));
    close(number);
    close(epoll);
}

static void sleeps(void) {
    struct timespec wrong = {0, 1000000000}, negative = {-1, 0};
    SAY(nanosleep(&wrong, NULL));
    SAY(nanosleep(&negative, NULL));
    SAY(nanosleep(wild, NULL));
    // Of a sleep that is interrupted, by whoever attaches as well, the kernel writes the rest.
    SAY(nanosleep(&(struct timespec){0, 0}, wild));
    SAY(clock_nanosleep(77, 0, &short_time, NULL));
    SAY(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL));
    SAY(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &short_time, NULL));
    SAY(usleep(1000));
    SAY(sleep(0));
    SAY(sched_yield());
}

static void futexes(void) {
    static int word = 1;
    SAY(syscall(SYS_futex, &word, FUTEX_WAIT, 2, NULL));
    SAY(syscall(SYS_futex, &word, FUTEX_WAIT, 1, &short_time));
    SAY(syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL));
    SAY(syscall(SYS_futex, wild, FUTEX_WAIT, 1, &short_time));
    SAY(syscall(9999));
    int set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf operation = {0, -1, IPC_NOWAIT};
    SAY(semop(set, &operation, 1));
    operation.sem_flg = 0;
    SAY(semtimedop(set, &operation, 1, &short_time));
    SAY(semop(set, wild, 1));
    SAY(semctl(set, 0, IPC_RMID));
    SAY(semop(set, &operation, 1));
}

// ---- memory

static void memory(void) {
    volatile size_t huge = PTRDIFF_MAX;
    void *block = (void *)1;
    SAY_ZERO(malloc(huge + 1));
    SAY_ZERO(calloc(huge, 4));
    SAY_ZERO(calloc(0, 4));
    SAY_ZERO(realloc(NULL, huge + 1));
    SAY_ZERO(reallocarray(NULL, huge, 4));
    SAY(posix_memalign(&block, 3, 8));
    SAY(block == (void *)1);
    SAY(posix_memalign(&block, 64, 100));
    SAY((uintptr_t)block % 64);
    SAY(malloc_usable_size(block) >= 100);
    block = realloc(block, 100000);
    memset(block, 7, 100000);
    block = realloc(block, 10);
    SAY(((char *)block)[9]);
    free(block);
    SAY_ZERO(realloc(malloc(8), 0));
    SAY_ZERO(aligned_alloc(4096, 4096));
    SAY_ZERO(memalign(1 << 12, 10));
    SAY_ZERO(valloc(10));
    errno = 5;
    free(malloc(1 << 20));
    SAY_ZERO(strdup("a text"));
    char *text = NULL;
    SAY(asprintf(&text, "%d %s", 5, "numbers"));
    free(text);
    SAY(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    SAY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 999, 0) == MAP_FAILED);
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SAY(munmap(pages + 4096, 4096));
    SAY(mprotect(pages, 3 * 4096, PROT_READ));
    SAY(munmap(pages + 1, 4096));
    SAY(mremap(pages, 4096, 0, 0) == MAP_FAILED);
    SAY(mremap(pages, 4096, 3 * 4096, 0) == MAP_FAILED);
    SAY(madvise(pages, 4096, 9999));
    SAY(munmap(pages, 3 * 4096));
    SAY(brk(NULL) == 0 || errno);
    SAY(sbrk(0) != (void *)-1);
    struct rlimit limit, small;
    getrlimit(RLIMIT_DATA, &limit);
    small = limit;
    small.rlim_cur = 1;
    SAY(setrlimit(RLIMIT_DATA, &small));
    SAY_ZERO(malloc(64 << 20));
    SAY(setrlimit(RLIMIT_DATA, &limit));
}

static void *allocate(void *argument) {
    for (int i = 0; i < 300; i++) {
        void *blocks[8];
        for (int k = 0; k < 8; k++) blocks[k] = k % 2 ? malloc((size_t)(i * k)) : calloc((size_t)i + 1, (size_t)k + 1);
        for (int k = 0; k < 8; k++) free(blocks[7 - k]);
    }
    return argument;
}

static void memory_of_threads(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, allocate, NULL);
    allocate(NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    SAY(4);
}

// ---- libraries

static void libraries(void) {
    SAY_ZERO(dlopen("none.so", RTLD_NOW));
    SAY_ZERO(strstr(dlerror(), "none.so"));
    SAY_ZERO(dlerror());
    SAY_ZERO(dlsym(RTLD_DEFAULT, "no_such_function"));
    SAY_ZERO(dlerror());
    SAY_ZERO(dlsym(RTLD_NEXT, "malloc"));
    void *math = dlopen("libm.so.6", RTLD_LAZY);
    if (!math) return;
    double (*cosine)(double) = (double (*)(double))dlsym(math, "cos");
    SAY(cosine ? cosine(0) : -1);
    SAY(dlclose(math));
    Dl_info info;
    SAY(dladdr((void *)libraries, &info) != 0);
    SAY(dladdr(wild, &info));
}

static int depth_of_stack(void) {
    void *addresses[64];
    return backtrace(addresses, 64);
}
static int call_it(int (*function)(void)) { return function() + 100; }

static void backtraces(void) { SAY(call_it(depth_of_stack) > 102); }

static void environment(void) {
    // Fathom comes by variables, which are there to be seen.
    for (char **name = environ; *name; name++)
        if (strncmp(*name, "LD_PRELOAD=", 11) && strncmp(*name, "FATHOM_", 7)) puts(*name);
    SAY(setenv("", "x", 1));
    SAY(setenv("A", "x", 1));
    SAY(unsetenv("A"));
    char name[16];
    prctl(PR_GET_NAME, name);
    puts(name);
    SAY(prctl(PR_GET_DUMPABLE));
    SAY(prctl(9999));
    SAY(prctl(PR_SET_NAME, "renamed"));
    SAY(umask(022));
}

// ---- processes

static void processes(void) {
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)"echo from a shell; exit 3", NULL}, *nothing[] = {NULL};
    int status = 0;
    pid_t child;
    SAY(waitpid(-1, &status, WNOHANG));
    SAY(execve("/none/such", arguments, environ));
    SAY(execve("/", arguments, environ));
    SAY(execve("/dev/null", arguments, nothing));
    SAY(execvp("no-such-program", arguments));
    SAY(execve(wild, arguments, environ));
    SAY(execve("/none/such", wild, environ));
    SAY(posix_spawn(&child, "/none/such", NULL, NULL, arguments, environ));
    fflush(stdout);
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ)) abort();
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    fflush(stdout);
    SAY(system("exit 5"));
    FILE *stream = popen("echo from popen", "r");
    char text[64] = "";
    SAY_ZERO(fgets(text, sizeof text, stream));
    fputs(text, stdout);
    SAY(pclose(stream));
    fflush(stdout);
    child = vfork();
    if (child == 0) {
        execve("/none/such", arguments, environ);
        _exit(errno);
    }
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    fflush(stdout);
    child = vfork();
    if (child == 0) {
        execve("/bin/sh", arguments, nothing);
        _exit(9);
    }
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    fflush(stdout);
    child = fork();
    if (child == 0) raise(SIGTERM);
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    siginfo_t info = {0};
    SAY(waitid(P_ALL, 0, &info, WEXITED | WNOHANG));
    SAY(waitid(77, 0, &info, WEXITED));
    SAY(wait(wild));
}

static void *fork_here(void *argument) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, allocate, NULL) || pthread_join(thread, NULL)) _exit(1);
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    SAY(status);
    return argument;
}

static void forks_of_threads(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, allocate, NULL);
    in_thread(fork_here, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void (*const all[])(void) = {
    mutexes,
    robust_mutexes,
    ceilings,
    rwlocks,
    semaphores,
    conditions,
    c11,
    barriers,
    cancellations,
    pending_cancellation,
    thread_calls,
    signals,
    interrupted,
    faults,
    overflow,
    contexts,
    files,
    descriptors,
    pipes,
    polls,
    sleeps,
    futexes,
    memory,
    memory_of_threads,
    libraries,
    backtraces,
    environment,
    processes,
    forks_of_threads,
};
#define ALL (sizeof all / sizeof *all)

static void *make_call(void *number) {
    all[(long)number]();
    return NULL;
}

// Timers interrupt the thread that makes the call.
static void leave_alarms(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(how, &set, NULL);
}

static void *make_call_in_thread(void *number) {
    leave_alarms(SIG_UNBLOCK);
    return make_call(number);
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) * 2862933555777941757u + 3037000493u : 1;
    int count = argc > 2 ? atoi(argv[2]) : 1, only = argc > 3 ? atoi(argv[3]) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    ignore_signal(SIGPIPE);
    for (int i = 0; i < count; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        long number = (long)(only ? (unsigned)only - 1 : (unsigned)(seed >> 33) % ALL);
        unsigned way = (unsigned)(seed >> 20) % 4;
        printf("-- %ld, way %u\n", number, way);
        fflush(stdout);
        if (way == 1) {
            leave_alarms(SIG_BLOCK);
            in_thread(make_call_in_thread, (void *)number);
            leave_alarms(SIG_UNBLOCK);
        } else if (way == 2) {
            pid_t child = fork();
            if (child == 0) {
                make_call((void *)number);
                exit(0);
            }
            int status = 0;
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
            printf("status %d\n", status);
        } else {
            make_call((void *)number);
        }
    }
    return 0;
}
