// Calls the functions of the C library that Fathom stands before, with good and bad arguments, and prints what each
// returns, errno, and what it left behind. Each line has to be what it is without Fathom. Every case runs in a process
// of its own.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wunused-result"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define SHOW(expression)                                                                                               \
    do {                                                                                                               \
        errno = 0;                                                                                                     \
        long result_ = (long)(expression);                                                                             \
        printf("  %s: %ld %s\n", #expression, result_, errno ? strerrorname_np(errno) : "");                           \
    } while (0)

// An address that nothing is at, and one behind which only `size` bytes can be read. The compiler must not know either.
static void *bad;
static char *last_page;
static void *edge(size_t size) { return last_page + 4096 - size; }

static int ends[2], sockets[2];
static const struct timespec none = {0, 0}, wrong = {0, 1000000000}, negative = {0, -1}, moment = {0, 2000000};

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 2000000;
    if (time.tv_nsec >= 1000000000) time = (struct timespec){time.tv_sec + 1, time.tv_nsec - 1000000000};
    return time;
}

static void *in_thread(void *(*routine)(void *), void *argument) {
    pthread_t thread;
    void *value = NULL;
    pthread_create(&thread, NULL, routine, argument);
    pthread_join(thread, &value);
    return value;
}

// ---- locks

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;
static sem_t semaphore;
static int kind, robust, protocol;

static void *lock_and_end(void *argument) {
    pthread_mutex_lock(&mutex);
    return argument;
}
static void *try_from_another(void *argument) {
    (void)argument;
    struct timespec until = soon(CLOCK_REALTIME), until_monotonic = soon(CLOCK_MONOTONIC);
    SHOW(pthread_mutex_trylock(&mutex));
    SHOW(pthread_mutex_timedlock(&mutex, &until));
    SHOW(pthread_mutex_timedlock(&mutex, &wrong));
    SHOW(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until_monotonic));
    return NULL;
}

static int make_mutex(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    return pthread_mutex_init(&mutex, &attributes);
}

static void mutexes(void) {
    static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    for (int i = 0; i < 4 * 2 * 2; i++) {
        kind = kinds[i % 4], robust = i / 4 % 2, protocol = protocols[i / 8];
        printf("  kind %d, robust %d, protocol %d: %d\n", kind, robust, protocol, make_mutex());
        if (i % 4 == 1 || i % 4 == 2) {  // where another lock by the owner does not wait
            SHOW(pthread_mutex_lock(&mutex));
            SHOW(pthread_mutex_lock(&mutex));
            SHOW(pthread_mutex_unlock(&mutex));
        } else SHOW(pthread_mutex_timedlock(&mutex, &wrong));
        in_thread(try_from_another, NULL);
        SHOW(pthread_mutex_unlock(&mutex));
        SHOW(pthread_mutex_clocklock(&mutex, CLOCK_BOOTTIME, &wrong));
        SHOW(pthread_mutex_clocklock(&mutex, 77, &none));
        SHOW(pthread_mutex_unlock(&mutex));
        SHOW(mutex.__data.__kind);
        SHOW(mutex.__data.__lock != 0);
    }
    SHOW(pthread_mutex_destroy(&mutex));
    SHOW(pthread_mutex_trylock(&mutex));
    SHOW(pthread_mutex_lock(&mutex));
}

static void robust_mutexes(void) {
    robust = 1;
    for (int i = 0; i < 4; i++) {
        int is_mended = i & 1;
        kind = i & 2 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL;
        make_mutex();
        in_thread(lock_and_end, NULL);
        SHOW(pthread_mutex_lock(&mutex));
        if (is_mended) SHOW(pthread_mutex_consistent(&mutex));
        SHOW(pthread_mutex_unlock(&mutex));
        SHOW(pthread_mutex_lock(&mutex));
        SHOW(pthread_mutex_unlock(&mutex));
        SHOW(pthread_mutex_timedlock(&mutex, &none));
        SHOW(pthread_mutex_trylock(&mutex));
        in_thread(try_from_another, NULL);
    }
}

static void ceilings(void) {
    static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    protocol = PTHREAD_PRIO_PROTECT;
    for (int i = 0; i < 3 * 2; i++) {
        kind = kinds[i % 3], robust = i / 3;
        make_mutex();
        int ceiling = -1;
        SHOW((pthread_mutex_getprioceiling(&mutex, &ceiling), ceiling));
        SHOW(pthread_mutex_lock(&mutex));
        SHOW(mutex.__data.__nusers);
        SHOW(mutex.__data.__lock);
        SHOW(pthread_mutex_unlock(&mutex));
        SHOW(pthread_mutex_trylock(&mutex));
        SHOW(pthread_mutex_unlock(&mutex));
        SHOW(pthread_mutex_timedlock(&mutex, &none));
        SHOW(mutex.__data.__lock);
    }
}

static void recursion_limit(void) {
    kind = PTHREAD_MUTEX_RECURSIVE;
    make_mutex();
    SHOW(pthread_mutex_lock(&mutex));
    mutex.__data.__count = UINT_MAX;
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_mutex_timedlock(&mutex, bad));
}

static void *rwlocks_of_another(void *argument) {
    struct timespec until = soon(CLOCK_REALTIME), until_monotonic = soon(CLOCK_MONOTONIC);
    SHOW(pthread_rwlock_tryrdlock(&rwlock));
    SHOW(pthread_rwlock_trywrlock(&rwlock));
    SHOW(pthread_rwlock_timedwrlock(&rwlock, &until));
    SHOW(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until_monotonic));
    return argument;
}

static void rwlocks(void) {
    static const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
                                PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};
    for (int i = 0; i < 3; i++) {
        pthread_rwlockattr_t attributes;
        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(&attributes, kinds[i]);
        pthread_rwlock_init(&rwlock, &attributes);
        SHOW(pthread_rwlock_timedrdlock(&rwlock, &wrong));
        SHOW(pthread_rwlock_timedrdlock(&rwlock, &negative));
        SHOW(pthread_rwlock_timedwrlock(&rwlock, &wrong));
        SHOW(pthread_rwlock_clockrdlock(&rwlock, CLOCK_BOOTTIME, &none));
        SHOW(pthread_rwlock_clockwrlock(&rwlock, 77, &none));
        SHOW(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &wrong));
        SHOW(pthread_rwlock_timedrdlock(&rwlock, &none));
        SHOW(pthread_rwlock_rdlock(&rwlock));
        in_thread(rwlocks_of_another, NULL);
        while (rwlock.__data.__readers >> 3) pthread_rwlock_unlock(&rwlock);
        SHOW(pthread_rwlock_timedwrlock(&rwlock, &none));
        SHOW(pthread_rwlock_rdlock(&rwlock));
        SHOW(pthread_rwlock_wrlock(&rwlock));
        SHOW(pthread_rwlock_timedwrlock(&rwlock, &wrong));
        in_thread(rwlocks_of_another, NULL);
        SHOW(pthread_rwlock_unlock(&rwlock));
        SHOW(rwlock.__data.__readers);
    }
}

static void semaphores(void) {
    sem_init(&semaphore, 0, 8);
    struct timespec until = soon(CLOCK_REALTIME), until_monotonic = soon(CLOCK_MONOTONIC);
    SHOW(sem_wait(&semaphore));
    SHOW(sem_timedwait(&semaphore, &none));
    SHOW(sem_timedwait(&semaphore, &wrong));
    SHOW(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &none));
    SHOW(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &negative));
    SHOW(sem_clockwait(&semaphore, CLOCK_BOOTTIME, &none));
    SHOW(sem_trywait(&semaphore));
    int value;
    SHOW((sem_getvalue(&semaphore, &value), value));
    while (sem_trywait(&semaphore) == 0) {
    }
    SHOW(sem_timedwait(&semaphore, &until));
    SHOW(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until_monotonic));
    SHOW(sem_clockwait(&semaphore, 77, &until));
    sem_init(&semaphore, 0, SEM_VALUE_MAX);
    SHOW(sem_post(&semaphore));
}

// ---- cancellation: which calls a thread ends in that somebody has cancelled

static int step;
static void note_step(void *argument) { printf("  cancelled at step %d%s\n", step, (const char *)argument); }
static void *cancelled(void *argument) {
    int which = *(int *)argument, value;
    struct pollfd polled = {ends[1], POLLOUT, 0};
    char byte;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_cleanup_push(note_step, "");
    step = which;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    switch (which) {
    case 0: sem_wait(&semaphore); break;
    case 1: sem_timedwait(&semaphore, &none); break;
    case 2: sem_clockwait(&semaphore, CLOCK_MONOTONIC, &none); break;
    case 3: sem_trywait(&semaphore); break;
    case 4:
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        break;
    case 5:
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        break;
    case 6: poll(&polled, 1, 0); break;
    case 7: read(ends[0], &byte, 0); break;
    case 8: nanosleep(&none, NULL); break;
    case 9: sem_timedwait(&semaphore, &wrong); break;
    case 10: sem_clockwait(&semaphore, 77, &none); break;
    case 11: usleep(0); break;
    case 12: waitpid(-1, NULL, WNOHANG); break;
    case 13:
        pthread_mutex_timedlock(&mutex, &none);
        pthread_mutex_unlock(&mutex);
        break;
    case 14: send(sockets[0], "", 0, 0); break;
    case 15: select(0, NULL, NULL, NULL, &(struct timeval){0, 0}); break;
    case 16: flock(ends[0], LOCK_SH); break;
    case 17: syscall(SYS_futex, &step, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); break;
    case 18: sleep(0); break;
    case 19: clock_nanosleep(CLOCK_MONOTONIC, 0, &none, NULL); break;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sem_getvalue(&semaphore, &value);
    printf("  step %d goes on, semaphore %d\n", step, value);
    pthread_cleanup_pop(0);
    return NULL;
}
static void cancellations(void) {
    pthread_mutex_init(&mutex, NULL);
    pthread_rwlock_init(&rwlock, NULL);
    for (int which = 0; which < 20; which++) {
        sem_init(&semaphore, 0, 1);
        printf("  %d\n", in_thread(cancelled, &which) == PTHREAD_CANCELED);
    }
}

// ---- signals: a call that is interrupted ends, or goes on

static void handle(int number) { (void)number; }
static void after(long microseconds) {
    struct itimerval time = {{0, 0}, {0, microseconds}};
    setitimer(ITIMER_REAL, &time, NULL);
}
static void interruptions(void) {
    struct pollfd polled = {ends[0], POLLIN, 0};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct timespec rest = {0, 0}, minute = {60, 0};
    char byte;
    for (int restarts = 1; restarts >= 0; restarts--) {
        action.sa_flags = restarts ? SA_RESTART : 0;
        sigaction(SIGALRM, &action, NULL);
        after(3000);
        SHOW(poll(&polled, 1, -1));
        after(3000);
        SHOW(select(ends[0] + 1, &(fd_set){{0}}, NULL, NULL, NULL));
        after(3000);
        SHOW(nanosleep(&minute, &rest));
        SHOW(rest.tv_sec);
        after(3000);
        SHOW(pause());
        after(3000);
        SHOW(sleep(1000) > 900);
        after(3000);
        SHOW(usleep(900000));
        sem_init(&semaphore, 0, 0);
        struct timespec until = {time(NULL) + 60, 0};
        after(3000);
        SHOW(restarts ? 0 : sem_timedwait(&semaphore, &until));
        after(3000);
        SHOW(restarts ? 0 : read(ends[0], &byte, 1));
        after(3000);
        SHOW(restarts ? 0 : recv(sockets[0], &byte, 1, 0));
        struct timeval limit = {0, 20000};
        setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        SHOW(recv(sockets[0], &byte, 1, 0));
        int word = 0;
        after(3000);
        SHOW(restarts ? 0 : syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
        SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0));
        SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0));
    }
}

// ---- addresses that the kernel refuses

static void addresses_of_messages(void) {
    char bytes[16] = "text";
    struct iovec piece = {bytes, 4}, bad_piece = {bad, 4};
    struct msghdr good = {.msg_iov = &piece, .msg_iovlen = 1}, without = {.msg_iov = bad, .msg_iovlen = 1},
                  bytes_missing = {.msg_iov = &bad_piece, .msg_iovlen = 1},
                  nameless = {.msg_name = bad, .msg_namelen = 16, .msg_iov = &piece, .msg_iovlen = 1},
                  huge = {.msg_name = bytes, .msg_namelen = 1 << 30, .msg_iov = &piece, .msg_iovlen = 1};
    SHOW(sendmsg(sockets[0], bad, 0));
    SHOW(sendmsg(sockets[0], NULL, 0));
    SHOW(sendmsg(sockets[0], edge(24), 0));
    SHOW(sendmsg(sockets[0], &without, 0));
    SHOW(sendmsg(sockets[0], &bytes_missing, 0));
    SHOW(sendmsg(sockets[0], &nameless, 0));
    SHOW(sendmsg(sockets[0], &huge, 0));
    SHOW(sendmsg(-1, &good, 0));
    SHOW(sendmsg(sockets[0], &good, 0));
    SHOW(recvmsg(sockets[1], bad, 0));
    SHOW(recvmsg(sockets[1], edge(24), 0));
    SHOW(recvmsg(sockets[1], &without, MSG_DONTWAIT));
    SHOW(sendto(sockets[0], bytes, 4, 0, bad, 16));
    SHOW(sendto(sockets[0], bad, 4, 0, NULL, 0));
    SHOW(sendto(sockets[0], bytes, 4, 0, edge(2), 16));
    SHOW(sendto(sockets[0], bytes, 4, 0, edge(2), 2));
    SHOW(sendto(sockets[0], bytes, 4, 0, edge(2), UINT_MAX));
    SHOW(recvfrom(sockets[1], bytes, 4, MSG_DONTWAIT, bad, bad));
    SHOW(recvfrom(sockets[1], bad, 4, MSG_DONTWAIT, NULL, NULL));
    SHOW(send(sockets[0], bad, 4, 0));
    SHOW(recv(sockets[1], bad, 4, MSG_DONTWAIT));
    int other = socket(AF_UNIX, SOCK_STREAM, 0);
    SHOW(connect(other, bad, 16));
    SHOW(connect(other, edge(1), 16));
    SHOW(connect(other, edge(2), 2));
    SHOW(connect(other, NULL, 0));
    SHOW(connect(-1, bad, 16));
    SHOW(accept(other, bad, bad));
    SHOW(accept4(other, bad, bad, -1));
    SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, bad));
    SHOW(socketpair(AF_INET, SOCK_STREAM, 0, (int[2]){0}));
    SHOW(read(ends[0], bad, 0));
    write(ends[1], "x", 1);
    SHOW(read(ends[0], bad, 1));
    SHOW(readv(ends[0], bad, 1));
    SHOW(readv(ends[0], bad, -1));
    SHOW(write(ends[1], bad, 1));
    SHOW(writev(ends[1], bad, 1));
    SHOW(writev(ends[1], &bad_piece, 1));
    SHOW(write(-1, "x", 1));
    SHOW(flock(-1, LOCK_SH));
    SHOW(flock(ends[0], 77));
}

static void addresses_of_polls(void) {
    struct pollfd polled = {ends[1], POLLOUT, 0}, *half = edge(sizeof polled);
    fd_set set, *tight = edge(8);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT};
    SHOW(poll(bad, 1, 0));
    SHOW(poll(bad, 0, 0));
    SHOW(poll(NULL, 1, 0));
    SHOW(poll(&polled, (nfds_t)1 << 40, 0));
    SHOW(poll(&polled, (nfds_t)-1, 0));
    SHOW(poll(edge(4), 1, 0));
    *half = polled;
    SHOW(poll(half, 1, 0));
    SHOW(half->revents);
    SHOW(poll(half, 2, 0));
    SHOW(ppoll(bad, 1, &none, NULL));
    SHOW(ppoll(&polled, 1, &none, bad));
    SHOW(ppoll(&polled, 1, &none, edge(8)));
    SHOW(ppoll(&polled, 1, &none, edge(4)));
    SHOW(ppoll(&polled, 1, &wrong, NULL));
    SHOW(select(1, bad, NULL, NULL, &(struct timeval){0, 0}));
    SHOW(select(ends[1] + 1, NULL, bad, NULL, &(struct timeval){0, 0}));
    SHOW(select(-1, NULL, NULL, NULL, &(struct timeval){0, 0}));
    FD_ZERO(&set);
    SHOW(select(INT_MAX, NULL, NULL, &set, &(struct timeval){0, 0}));
    memset(tight, 0, 8);
    *(char *)tight = (char)(1 << ends[1]);
    SHOW(select(64, NULL, tight, NULL, &(struct timeval){0, 0}));
    SHOW(*(unsigned char *)tight >> ends[1]);
    SHOW(pselect(ends[1] + 1, NULL, bad, NULL, &none, NULL));
    SHOW(pselect(0, NULL, NULL, NULL, &none, bad));
    SHOW(pselect(0, NULL, NULL, NULL, &none, edge(8)));
    SHOW(pselect(0, NULL, NULL, NULL, &wrong, NULL));
    int epoll = epoll_create1(0);
    SHOW(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], bad));
    SHOW(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], NULL));
    SHOW(epoll_ctl(epoll, EPOLL_CTL_DEL, ends[1], bad));
    SHOW(epoll_ctl(epoll, 77, ends[1], &event));
    SHOW(epoll_ctl(-1, EPOLL_CTL_ADD, ends[1], &event));
    SHOW(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event));
    SHOW(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event));
    SHOW(epoll_wait(epoll, bad, 1, 0));
    SHOW(epoll_wait(epoll, edge(4), 1, 0));
    SHOW(epoll_wait(epoll, &event, 0, 0));
    SHOW(epoll_wait(-1, &event, 1, 0));
    SHOW(epoll_wait(epoll, &event, INT_MAX, 0));
    SHOW(epoll_pwait(epoll, &event, 1, 0, bad));
    SHOW(epoll_pwait(epoll, &event, 1, 0, edge(8)));
    SHOW(epoll_pwait2(epoll, &event, 1, bad, NULL));
    SHOW(epoll_wait(epoll, &event, 1, 0));
    SHOW(event.events);
}

static void addresses_of_waits(void) {
    siginfo_t info;
    if (fork() == 0) _exit(3);
    SHOW(waitid(P_ALL, 0, bad, WEXITED | WNOWAIT));
    SHOW(waitid(P_ALL, 0, NULL, WEXITED | WNOWAIT));
    SHOW(waitid(P_ALL, 0, &info, WEXITED));
    SHOW(info.si_status);
    SHOW(waitid(77, 0, &info, WEXITED));
    SHOW(wait(bad));
    if (fork() == 0) _exit(4);
    SHOW(wait4(-1, bad, 0, NULL));
    SHOW(waitpid(-1, NULL, 0xffff));
    SHOW(nanosleep(bad, NULL));
    SHOW(nanosleep(&wrong, NULL));
    SHOW(nanosleep(&negative, NULL));
    SHOW(clock_nanosleep(CLOCK_MONOTONIC, 0, bad, NULL));
    SHOW(clock_nanosleep(77, 0, &none, NULL));
    SHOW(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &none, NULL));
    SHOW(usleep(UINT_MAX - UINT_MAX));
    SHOW(syscall(SYS_futex, bad, FUTEX_WAIT, 0, NULL, NULL, 0));
    SHOW(syscall(SYS_futex, bad, FUTEX_WAKE, 1, NULL, NULL, 0));
    SHOW(syscall(SYS_futex, bad, FUTEX_WAKE_OP, 1, 1, bad, 0));
    SHOW(syscall(SYS_futex, &info, FUTEX_WAIT, 0x7fffffff, bad, NULL, 0));
    SHOW(syscall(SYS_futex, (char *)&info + 1, FUTEX_WAKE, 1, NULL, NULL, 0));
    SHOW(syscall(-1));
    pthread_t thread = pthread_self();
    SHOW(pthread_join(thread, NULL));
}

// ---- other programs

static void addresses_of_programs(void) {
    char *arguments[] = {"true", NULL}, *of_bad[] = {bad, NULL};
    char *long_name = malloc(10000);
    memset(long_name, 'x', 9999);
    long_name[9999] = 0;
    char *text = edge(5);
    memcpy(text, "/none", 5);
    pid_t child;
    SHOW(execve(bad, arguments, environ));
    SHOW(execve(NULL, arguments, environ));
    SHOW(execve(text, arguments, environ));
    SHOW(execve("/bin/true", arguments, bad));
    SHOW(execve("/bin/true", arguments, of_bad));
    SHOW(execve("/bin/true", arguments, edge(8)));
    SHOW(execve("/bin/true", bad, environ));
    SHOW(execve(long_name, arguments, environ));
    SHOW(execve("/", arguments, environ));
    SHOW(execve("/dev/null", arguments, environ));
    SHOW(execv("", arguments));
    SHOW(execvp("", arguments));
    SHOW(execvp(long_name, arguments));
    SHOW(execvpe("none_of_this_name", arguments, bad));
    SHOW(execl("/none", "none", (char *)NULL));
    SHOW(fexecve(-1, arguments, environ));
    SHOW(execveat(AT_FDCWD, bad, arguments, environ, 0));
    SHOW(posix_spawn(&child, bad, NULL, NULL, arguments, environ));
    SHOW(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, bad));
    SHOW(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, of_bad));
    SHOW(posix_spawn(NULL, "/none", NULL, NULL, arguments, environ));
    SHOW(posix_spawnp(&child, "none_of_this_name", NULL, NULL, arguments, environ));
    SHOW(system(NULL));
    SHOW(WEXITSTATUS(system("exit 3")));
}

static int is_locked(const char *path, int is_write) {
    pid_t child = fork();  // because one's own locks do not count
    int status;
    if (child == 0) {
        struct flock lock = {.l_type = is_write ? F_WRLCK : F_RDLCK};
        _exit(fcntl(open(path, O_RDWR), F_GETLK, &lock) || lock.l_type != F_UNLCK);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void program(const char *name, const char *text) {
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);
    write(file, text, strlen(text));
    close(file);
}

// What is looked at before a program starts has no effect: on a lock, on who writes to a pipe, on who waits for
// children.
static void files_of_programs(void) {
    char directory[] = "results-XXXXXX", *arguments[] = {"job", NULL};
    struct flock lock = {.l_type = F_WRLCK};
    pid_t child;
    if (!mkdtemp(directory) || chdir(directory)) return;
    program("job", "#!/bin/sh\nexit 0\n");
    program("through", "#!./interpreter\n");
    mkfifo("pipe", 0755);
    mkfifo("interpreter", 0755);
    mkdir("folder", 0755);
    int file = open("job", O_RDONLY), lease = -1;
    close(file);
    file = open("job", O_RDWR);
    SHOW(fcntl(file, F_SETLK, &lock));
    SHOW(is_locked("job", 0));
    SHOW(posix_spawn(&child, "./job", NULL, NULL, arguments, environ));
    SHOW(is_locked("job", 0));
    waitpid(child, NULL, 0);
    SHOW(posix_spawnp(&child, "true", NULL, NULL, arguments, environ));
    waitpid(child, NULL, 0);
    SHOW(posix_spawn(&child, "./through", NULL, NULL, arguments, environ));
    SHOW(posix_spawn(&child, "./pipe", NULL, NULL, arguments, environ));
    SHOW(posix_spawn(&child, "./folder", NULL, NULL, arguments, environ));
    SHOW(execv("./job", bad));
    SHOW(is_locked("job", 0));
    program("plain", "no program");
    chmod("plain", 0644);
    file = open("plain", O_RDWR);
    SHOW(fcntl(file, F_SETLK, &lock));
    SHOW(execv("plain", arguments));
    SHOW(is_locked("plain", 0));
    SHOW(execv("pipe", arguments));
    SHOW(execv("through", arguments));
    SHOW(open("pipe", O_WRONLY | O_NONBLOCK));
    SHOW(wait(NULL));
    SHOW(waitpid(-1, NULL, __WALL));
    struct rlimit limit = {0, 0};
    setrlimit(RLIMIT_NOFILE, &limit);
    SHOW(execv("./plain", arguments));
    (void)lease;
    unlink("job"), unlink("through"), unlink("pipe"), unlink("interpreter"), unlink("plain"), rmdir("folder");
    if (chdir("..") == 0) rmdir(directory);
}

// ---- once

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT, by_handler = PTHREAD_ONCE_INIT;
static void inner_routine(void) { puts("  inner routine"); }
static void handler_routine(void) { write(1, "  handler's routine\n", 20); }
static void call_once(int number) {
    (void)number;
    pthread_once(&by_handler, handler_routine);
}
static void outer_routine(void) {
    SHOW(pthread_once(&inner, inner_routine));
    fflush(stdout);
    raise(SIGUSR1);
    puts("  outer routine");
}
static void onces(void) {
    signal(SIGUSR1, call_once);
    SHOW(pthread_once(&outer, outer_routine));
    SHOW(pthread_once(&outer, outer_routine));
    SHOW(pthread_once(&inner, outer_routine));
    SHOW(outer);
}

static void *end(void *argument) { return argument; }
static void threads(void) {
    pthread_t thread;
    struct timespec until = soon(CLOCK_REALTIME), until_monotonic = soon(CLOCK_MONOTONIC);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)1 << 46);
    SHOW(pthread_create(&thread, &attributes, end, NULL));
    SHOW(pthread_create(&thread, NULL, (void *(*)(void *))(void *)pause, NULL));
    SHOW(pthread_timedjoin_np(thread, NULL, &until));
    SHOW(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until_monotonic));
    SHOW(pthread_clockjoin_np(thread, NULL, CLOCK_BOOTTIME, &until_monotonic));
    pthread_cancel(thread);
    SHOW(pthread_join(thread, NULL));
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 1);
    SHOW(pthread_barrier_wait(&barrier));
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    kind = PTHREAD_MUTEX_ERRORCHECK, robust = protocol = 0;
    make_mutex();
    SHOW(pthread_cond_wait(&condition, &mutex));
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_cond_timedwait(&condition, &mutex, &wrong));
    SHOW(pthread_cond_timedwait(&condition, &mutex, &none));
    SHOW(pthread_cond_clockwait(&condition, &mutex, 77, &none));
    SHOW(pthread_mutex_unlock(&mutex));
}

#define CASE(name)                                                                                                     \
    { #name, name }
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(mutexes),
             CASE(robust_mutexes),
             CASE(ceilings),
             CASE(recursion_limit),
             CASE(rwlocks),
             CASE(semaphores),
             CASE(cancellations),
             CASE(interruptions),
             CASE(addresses_of_messages),
             CASE(addresses_of_polls),
             CASE(addresses_of_waits),
             CASE(addresses_of_programs),
             CASE(files_of_programs),
             CASE(onces),
             CASE(threads)};

// Somebody waits for data and for room in a child, so that whoever reads and writes has something to tell.
static void wait_beside(void) {
    int pair[2];
    struct pollfd polled;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return;
    polled = (struct pollfd){pair[0], POLLIN, 0};
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    while (write(pair[0], "full", 4) > 0) {
    }
    polled.events |= POLLOUT;
    poll(&polled, 1, -1);
    _exit(0);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 2 * 4096, PROT_NONE)) return 1;
    last_page = pages;
    bad = (void *)8;
    __asm__("" : "+r"(bad));
    pid_t beside = fork();
    if (beside == 0) wait_beside();
    usleep(20000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%s\n", cases[i].name);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            signal(SIGALRM, SIG_DFL);
            alarm(20);
            if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return 1;
            cases[i].run();
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (status) printf("  status %x\n", status);
        fflush(stdout);
    }
    kill(beside, SIGKILL);
    return 0;
}
