// Waits with time limits in every system call that the kernel does not take up by itself after a stop, in a thread
// each, until SIGTERM comes. Nothing interrupts them, so none may end with EINTR: then this says which one did, and
// ends with status 1. It writes nothing else.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static volatile int over;
static volatile long rounds;
static const char *volatile interrupted;
static const struct timeval limit = {0, 40000};
static const struct timespec same = {0, 40000000};

__attribute__((noinline)) void leaf(void) { rounds++; }

QUIET static int limited(int kind) {
    int ends[2];
    if (socketpair(AF_UNIX, kind, 0, ends)) abort();
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return ends[0];
}

QUIET static int listening(void) {
    int socket_ = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (bind(socket_, (struct sockaddr *)&name, sizeof name.sun_family) || listen(socket_, 1)) abort();
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return socket_;
}

static int full, stream, datagrams, door, set, semaphore;

QUIET static long call_recv(void) {
    char c;
    return recv(stream, &c, 1, 0);
}
QUIET static long call_read(void) {
    char c;
    return read(stream, &c, 1);
}
QUIET static long call_recvmsg(void) {
    char c;
    struct iovec part = {&c, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return recvmsg(datagrams, &message, 0);
}
QUIET static long call_send(void) {
    static char bytes[1 << 16];
    return send(full, bytes, sizeof bytes, 0);
}
QUIET static long call_accept(void) { return accept(door, NULL, NULL); }
QUIET static long call_epoll(void) {
    struct epoll_event event;
    return epoll_wait(set, &event, 1, 40);
}
QUIET static long call_semaphore(void) {
    struct sembuf down = {0, -1, 0};
    return semtimedop(semaphore, &down, 1, &same);
}
QUIET static long call_signal(void) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    return sigtimedwait(&wanted, NULL, &same);
}
// Its time cannot be written back, because it is constant.
QUIET static long call_poll(void) { return syscall(SYS_ppoll, NULL, 0, &same, NULL, 8); }
QUIET static long call_select(void) { return syscall(SYS_pselect6, 0, NULL, NULL, NULL, &same, NULL); }
QUIET static long call_sleep(void) {
    struct timespec left = {0, 0};
    return nanosleep(&same, &left);
}

static const struct {
    const char *name;
    long (*call)(void);
} calls[] = {
    {"recv", call_recv},     {"read", call_read},      {"recvmsg", call_recvmsg}, {"send", call_send},
    {"accept", call_accept}, {"epoll", call_epoll},    {"semop", call_semaphore}, {"sigtimedwait", call_signal},
    {"ppoll", call_poll},    {"pselect", call_select}, {"nanosleep", call_sleep},
};
enum { COUNT = sizeof calls / sizeof *calls };

QUIET static void *wait_again(void *number) {
    size_t which = (size_t)number;
    while (!over) {
        errno = 0;
        if (calls[which].call() < 0 && errno == EINTR) interrupted = calls[which].name;
        leaf();
    }
    return NULL;
}

QUIET static void end(int signal) {
    (void)signal;
    over = 1;
}

int main(void) {
    pthread_t threads[COUNT];
    sigset_t blocked, before;
    signal(SIGTERM, end);
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    stream = limited(SOCK_STREAM);
    datagrams = limited(SOCK_DGRAM);
    full = limited(SOCK_STREAM);
    door = listening();
    set = epoll_create1(0);
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    static char bytes[1 << 16];
    while (send(full, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
    for (size_t i = 0; i < COUNT; i++) pthread_create(&threads[i], NULL, wait_again, (void *)i);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    while (!over) pause();
    for (size_t i = 0; i < COUNT; i++) pthread_join(threads[i], NULL);
    semctl(semaphore, 0, IPC_RMID);
    if (interrupted) fprintf(stderr, "%s was interrupted\n", interrupted);
    return interrupted != NULL || rounds < COUNT;
}
