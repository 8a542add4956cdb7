// The main thread waits in every way that the C library has, and in some that it has not, for what another thread or
// process does. It prints how long it waited each time, in ns. The functions are called after what is waited in:
// wait_NAME waits, end_NAME ends the wait.
#define _GNU_SOURCE
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1  // getline is to be a call of that name
#endif
#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

ssize_t __read_chk(int descriptor, void *bytes, size_t size, size_t room);
int __poll_chk(struct pollfd *descriptors, nfds_t count, int time, size_t room);

static sem_t prepared, semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t control = PTHREAD_ONCE_INIT;
static pthread_t joined;
static int changes, word, pi_word;
static int ends[2], other_ends[2], sockets[2], inet[2], listening, event, epoll, files[2];
static long naptime;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct timespec later(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += 60;
    return time;
}

static void nap(void) {
    struct timespec time = {naptime / 1000, naptime % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void expect(int is_so, const char *what) {
    if (is_so) return;
    printf("%s failed: %s\n", what, strerror(errno));
    exit(1);
}

static void put(int descriptor) { expect(write(descriptor, "12345678", 8) == 8, "write"); }

// A case is prepared and ended by the other thread. What stands behind PREPARED is done before the main thread waits.
#define CASE(name, prepare, wait, end)                                                                                 \
    static void prepare_##name(void) { prepare; }                                                                      \
    static void wait_##name(void) { wait; }                                                                            \
    static void end_##name(void) { end; }

static char bytes[64];
static struct timespec until;

CASE(sem_wait, , expect(sem_wait(&semaphore) == 0, "sem_wait"), sem_post(&semaphore))
CASE(sem_timedwait, until = later(CLOCK_REALTIME), expect(sem_timedwait(&semaphore, &until) == 0, "sem_timedwait"),
     sem_post(&semaphore))
CASE(sem_clockwait, until = later(CLOCK_MONOTONIC),
     expect(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until) == 0, "sem_clockwait"), sem_post(&semaphore))

static void give_back(void) { pthread_mutex_unlock(&mutex); }
CASE(pthread_mutex_lock, pthread_mutex_lock(&mutex), pthread_mutex_lock(&mutex);
     give_back(), pthread_mutex_unlock(&mutex))
CASE(pthread_mutex_timedlock, pthread_mutex_lock(&mutex);
     until = later(CLOCK_REALTIME), expect(pthread_mutex_timedlock(&mutex, &until) == 0, "timedlock");
     give_back(), pthread_mutex_unlock(&mutex))
CASE(pthread_mutex_clocklock, pthread_mutex_lock(&mutex);
     until = later(CLOCK_MONOTONIC), expect(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until) == 0, "clocklock");
     give_back(), pthread_mutex_unlock(&mutex))
CASE(pthread_rwlock_rdlock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_rdlock(&rwlock);
     pthread_rwlock_unlock(&rwlock), pthread_rwlock_unlock(&rwlock))
CASE(pthread_rwlock_wrlock, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_wrlock(&rwlock);
     pthread_rwlock_unlock(&rwlock), pthread_rwlock_unlock(&rwlock))
CASE(pthread_rwlock_timedrdlock, pthread_rwlock_wrlock(&rwlock);
     until = later(CLOCK_REALTIME), pthread_rwlock_timedrdlock(&rwlock, &until);
     pthread_rwlock_unlock(&rwlock), pthread_rwlock_unlock(&rwlock))
CASE(pthread_rwlock_clockwrlock, pthread_rwlock_rdlock(&rwlock);
     until = later(CLOCK_MONOTONIC), pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until);
     pthread_rwlock_unlock(&rwlock), pthread_rwlock_unlock(&rwlock))

static void change(void) {
    pthread_mutex_lock(&gate);
    changes = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&gate);
}
static void change_for_all(void) {
    pthread_mutex_lock(&gate);
    changes = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&gate);
}
#define UNTIL_CHANGED(call)                                                                                            \
    pthread_mutex_lock(&gate);                                                                                         \
    while (!changes) call;                                                                                             \
    changes = 0;                                                                                                       \
    pthread_mutex_unlock(&gate)
CASE(pthread_cond_wait, , UNTIL_CHANGED(pthread_cond_wait(&condition, &gate)), change())
CASE(pthread_cond_timedwait, until = later(CLOCK_REALTIME),
     UNTIL_CHANGED(pthread_cond_timedwait(&condition, &gate, &until)), change())
CASE(pthread_cond_clockwait, until = later(CLOCK_MONOTONIC),
     UNTIL_CHANGED(pthread_cond_clockwait(&condition, &gate, CLOCK_MONOTONIC, &until)), change_for_all())

CASE(pthread_barrier_wait, , pthread_barrier_wait(&barrier), pthread_barrier_wait(&barrier))

static void *short_life(void *argument) {
    sem_post(&prepared);
    nap();
    return argument;
}
static void make_thread(void) { pthread_create(&joined, NULL, short_life, NULL); }
CASE(pthread_join, make_thread(), pthread_join(joined, NULL), )
CASE(pthread_timedjoin_np, make_thread(); until = later(CLOCK_REALTIME), pthread_timedjoin_np(joined, NULL, &until), )

static void initialise(void) {
    sem_post(&prepared);
    nap();
}
CASE(pthread_once, pthread_once(&control, initialise), pthread_once(&control, initialise), )

CASE(usleep, , usleep((useconds_t)naptime * 1000), )
CASE(nanosleep, , nap(), )
static void nap_by_clock(void) {
    struct timespec time = {naptime / 1000, naptime % 1000 * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}
CASE(clock_nanosleep, , nap_by_clock(), )

static struct iovec pieces = {bytes, sizeof bytes};
static struct msghdr message = {.msg_iov = &pieces, .msg_iovlen = 1};
CASE(read, , expect(read(ends[0], bytes, 8) == 8, "read"), put(ends[1]))
CASE(read_chk, , expect(__read_chk(ends[0], bytes, 8, sizeof bytes) == 8, "__read_chk"), put(ends[1]))
CASE(readv, , expect(readv(ends[0], &pieces, 1) == 8, "readv"), put(ends[1]))
CASE(recv, , expect(recv(sockets[0], bytes, 8, 0) == 8, "recv"), put(sockets[1]))
CASE(recvfrom, , expect(recvfrom(inet[0], bytes, 8, 0, NULL, NULL) == 8, "recvfrom"),
     expect(send(inet[1], "12345678", 8, 0) == 8, "send"))
CASE(recvmsg, , expect(recvmsg(sockets[1], &message, 0) == 8, "recvmsg"), put(sockets[0]))
CASE(read_event, , expect(read(event, bytes, 8) == 8, "read of an event"), put(event))

static int connected;
static void connect_to(void) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    getsockname(listening, (struct sockaddr *)&address, &size);
    connected = socket(AF_INET, SOCK_STREAM, 0);
    expect(connect(connected, (struct sockaddr *)&address, size) == 0, "connect");
}
static void take(void) {
    int taken = accept(listening, NULL, NULL);
    expect(taken >= 0, "accept");
    close(taken);
}
CASE(accept, , take(), connect_to(); close(connected))

// The pipe is full until the other thread reads from it.
static void fill(void) {
    static char page[4096];
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], page, sizeof page) > 0) continue;
    fcntl(ends[1], F_SETFL, 0);
}
static void drain(void) {
    static char all[1 << 20];
    expect(read(ends[0], all, sizeof all) > 8, "draining");
}
static void empty(void) {
    static char all[1 << 20];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    while (read(ends[0], all, sizeof all) > 0) continue;
    fcntl(ends[0], F_SETFL, 0);
}
CASE(write, fill(), put(ends[1]); empty(), drain())

static struct pollfd polled[2];
#define POLLED(one, other)                                                                                             \
    polled[0] = (struct pollfd){one, POLLIN, 0};                                                                       \
    polled[1] = (struct pollfd) { other, POLLIN, 0 }
static void take_from(int descriptor) { expect(recv(descriptor, bytes, 8, MSG_DONTWAIT) == 8, "recv"); }
CASE(poll, POLLED(sockets[0], inet[0]), poll(polled, 2, -1); take_from(sockets[0]), put(sockets[1]))
CASE(poll_chk, POLLED(sockets[0], inet[0]), __poll_chk(polled, 2, -1, sizeof polled); take_from(inet[0]), put(inet[1]))
CASE(ppoll, POLLED(sockets[0], inet[0]), ppoll(polled, 2, NULL, NULL); take_from(inet[0]), put(inet[1]))
static fd_set set;
static void choose(int descriptor) {
    FD_ZERO(&set);
    FD_SET(listening, &set);
    FD_SET(descriptor, &set);
}
CASE(select, choose(inet[0]), select(1024, &set, NULL, NULL, NULL); take_from(inet[0]), put(inet[1]))
CASE(pselect, choose(ends[0]), pselect(1024, &set, NULL, NULL, NULL, NULL);
     expect(read(ends[0], bytes, 8) == 8, "read"), put(ends[1]))
static struct epoll_event told[4];
CASE(epoll_wait, , epoll_wait(epoll, told, 4, -1); expect(read(event, bytes, 8) == 8, "read"), put(event))
CASE(epoll_pwait, , epoll_pwait(epoll, told, 4, -1, NULL); take_from(inet[0]), put(inet[1]))

// The waits for children: the child naps, then it ends.
static pid_t child;
static void make_child(void) {
    child = fork();
    if (child) return;
    nap();
    _exit(0);
}
static siginfo_t info;
CASE(wait, , make_child(); expect(wait(NULL) == child, "wait"), )
CASE(waitpid, , make_child(); expect(waitpid(child, NULL, 0) == child, "waitpid"), )
CASE(wait4, , make_child(); expect(wait4(-1, NULL, 0, NULL) == child, "wait4"), )
CASE(waitid, , make_child(); expect(waitid(P_PID, (id_t)child, &info, WEXITED) == 0, "waitid"), )
// What another process writes.
static void make_writer(void) {
    child = fork();
    if (child) return;
    nap();
    put(ends[1]);
    _exit(0);
}
CASE(read_from_child, , make_writer(); expect(read(ends[0], bytes, 8) == 8, "read"); waitpid(child, NULL, 0), )

CASE(flock, flock(files[0], LOCK_EX), expect(flock(files[1], LOCK_EX) == 0, "flock");
     flock(files[1], LOCK_UN), flock(files[0], LOCK_UN))
CASE(futex, __atomic_store_n(&word, 0, __ATOMIC_SEQ_CST),
     while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0),
     __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
     syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0))
CASE(futex_lock_pi, expect(syscall(SYS_futex, &pi_word, FUTEX_LOCK_PI, 0, NULL, NULL, 0) == 0, "lock"),
     expect(syscall(SYS_futex, &pi_word, FUTEX_LOCK_PI, 0, NULL, NULL, 0) == 0, "lock");
     syscall(SYS_futex, &pi_word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0),
     expect(syscall(SYS_futex, &pi_word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) == 0, "unlock"))

// ---- C11

static mtx_t mtx, mtx_gate;
static cnd_t cnd;
static once_flag flag = ONCE_FLAG_INIT;
static thrd_t thrd;
static void give_mtx_back(void) { mtx_unlock(&mtx); }
CASE(mtx_lock, mtx_lock(&mtx), mtx_lock(&mtx); give_mtx_back(), mtx_unlock(&mtx))
CASE(mtx_timedlock, mtx_lock(&mtx); until = later(CLOCK_REALTIME), mtx_timedlock(&mtx, &until);
     give_mtx_back(), mtx_unlock(&mtx))
static void change_cnd(void) {
    mtx_lock(&mtx_gate);
    changes = 1;
    cnd_signal(&cnd);
    mtx_unlock(&mtx_gate);
}
static void change_cnd_for_all(void) {
    mtx_lock(&mtx_gate);
    changes = 1;
    cnd_broadcast(&cnd);
    mtx_unlock(&mtx_gate);
}
#define UNTIL_CND(call)                                                                                                \
    mtx_lock(&mtx_gate);                                                                                               \
    while (!changes) call;                                                                                             \
    changes = 0;                                                                                                       \
    mtx_unlock(&mtx_gate)
CASE(cnd_wait, , UNTIL_CND(cnd_wait(&cnd, &mtx_gate)), change_cnd())
CASE(cnd_timedwait, until = later(CLOCK_REALTIME), UNTIL_CND(cnd_timedwait(&cnd, &mtx_gate, &until)),
     change_cnd_for_all())
static int short_thrd(void *argument) {
    short_life(argument);
    return 0;
}
CASE(thrd_join, thrd_create(&thrd, short_thrd, NULL), thrd_join(thrd, NULL), )
static void nap_thrd(void) {
    struct timespec time = {naptime / 1000, naptime % 1000 * 1000000};
    thrd_sleep(&time, NULL);
}
CASE(thrd_sleep, , nap_thrd(), )
CASE(call_once, call_once(&flag, initialise), call_once(&flag, initialise), )

// ---- signals

static pthread_t main_thread;
static volatile int handled, is_over;
__attribute__((no_instrument_function)) static void handle(int number) { handled = number; }
static sigset_t signal_set, no_signals;
// A signal that comes before the wait does not end it.
static void send_until_over(void) {
    while (!is_over) {
        pthread_kill(main_thread, SIGUSR2);
        usleep(10000);
    }
}
CASE(pause, is_over = 0, pause(); is_over = 1, send_until_over())
CASE(sigsuspend, handled = 0, while (!handled) sigsuspend(&no_signals), pthread_kill(main_thread, SIGUSR1))
static int got;
static siginfo_t signal_info;
CASE(sigwait, , sigwait(&signal_set, &got), pthread_kill(main_thread, SIGUSR1))
CASE(sigwaitinfo, , sigwaitinfo(&signal_set, &signal_info), kill(getpid(), SIGUSR1))
static struct timespec minute = {60, 0};
CASE(sigtimedwait, , sigtimedwait(&signal_set, &signal_info, &minute), pthread_kill(main_thread, SIGUSR1))

// ---- System V and POSIX

static int set_id, queue_id;
static mqd_t queue;
static struct sembuf take_one = {0, -1, 0}, give_one = {0, 1, 0};
static struct {
    long type;
    char text[8];
} letter = {1, "1234567"};
CASE(semop, , expect(semop(set_id, &take_one, 1) == 0, "semop"), semop(set_id, &give_one, 1))
CASE(semtimedop, , expect(semtimedop(set_id, &take_one, 1, &minute) == 0, "semtimedop"), semop(set_id, &give_one, 1))
CASE(msgrcv, , expect(msgrcv(queue_id, &letter, 8, 0, 0) == 8, "msgrcv"), msgsnd(queue_id, &letter, 8, 0))
static void fill_queue(void) {
    while (msgsnd(queue_id, &letter, 8, IPC_NOWAIT) == 0) continue;
}
static void empty_queue(void) {
    while (msgrcv(queue_id, &letter, 8, 0, IPC_NOWAIT) == 8) continue;
}
CASE(msgsnd, fill_queue(), expect(msgsnd(queue_id, &letter, 8, 0) == 0, "msgsnd");
     empty_queue(), msgrcv(queue_id, &letter, 8, 0, 0))
CASE(mq_receive, , expect(mq_receive(queue, bytes, 8, NULL) == 8, "mq_receive"), mq_send(queue, "1234567", 8, 1))
CASE(mq_timedreceive, until = later(CLOCK_REALTIME),
     expect(mq_timedreceive(queue, bytes, 8, NULL, &until) == 8, "mq_timedreceive"), mq_send(queue, "1234567", 8, 1))

// ---- input and output

static struct aiocb block;
static const struct aiocb *const blocks[] = {&block};
static void begin_aio(void) {
    memset(&block, 0, sizeof block);
    block.aio_fildes = ends[0];
    block.aio_buf = bytes;
    block.aio_nbytes = 8;
    expect(aio_read(&block) == 0, "aio_read");
}
CASE(aio_suspend, begin_aio(), expect(aio_suspend(blocks, 1, NULL) == 0, "aio_suspend"), put(ends[1]))
static aio_context_t context;
CASE(io_getevents, , struct io_event done; struct timespec time = ((struct timespec){0, naptime * 1000000});
     syscall(SYS_io_getevents, context, 1, 1, &done, &time), )
CASE(eventfd_read, , eventfd_t value; expect(eventfd_read(event, &value) == 0, "eventfd_read"), eventfd_write(event, 1))
static struct mmsghdr several = {.msg_hdr = {.msg_iov = &pieces, .msg_iovlen = 1}};
CASE(recvmmsg, , expect(recvmmsg(sockets[1], &several, 1, 0, NULL) == 1, "recvmmsg"), put(sockets[0]))
CASE(splice, , expect(splice(ends[0], NULL, other_ends[1], NULL, 8, 0) == 8, "splice");
     expect(read(other_ends[0], bytes, 8) == 8, "read"), put(ends[1]))
static off64_t place;
CASE(sendfile, fill(); place = 0, expect(sendfile64(ends[1], files[0], &place, 8) == 8, "sendfile"); empty(), drain())

// ---- streams

static FILE *in, *out;
static char text[64], *line;
static size_t room;
static void put_line(void) { expect(write(ends[1], "1234567\n", 8) == 8, "write"); }
CASE(fgets, , expect(fgets(text, sizeof text, in) != NULL, "fgets"), put_line())
CASE(getline, , expect(getline(&line, &room, in) == 8, "getline"), put_line())
ssize_t __getdelim(char **, size_t *, int, FILE *);
CASE(getdelim, , expect(__getdelim(&line, &room, '\n', in) == 8, "getdelim"), put_line())
CASE(fread, , expect(fread(text, 1, 8, in) == 8, "fread"), put_line())
CASE(fgetc, , expect(fgetc(in) == '1', "fgetc"); fgets(text, sizeof text, in), put_line())
CASE(fflush, fill(); fputs("1234567", out), fflush(out); empty(), drain())
CASE(flockfile, flockfile(out), flockfile(out); funlockfile(out), funlockfile(out))

// ---- locks of files, and programs

CASE(ofd_lock, struct flock lock = (struct flock){.l_type = F_WRLCK};
     fcntl(files[0], F_OFD_SETLKW, &lock), struct flock lock = (struct flock){.l_type = F_WRLCK};
     expect(fcntl(files[1], F_OFD_SETLKW, &lock) == 0, "lock"); lock.l_type = F_UNLCK;
     fcntl(files[1], F_OFD_SETLKW, &lock), struct flock lock = (struct flock){.l_type = F_UNLCK};
     fcntl(files[0], F_OFD_SETLKW, &lock))
static int locked[2];
static void make_locker(void) {
    child = fork();
    if (child) return;
    lockf(files[1], F_LOCK, 0);
    write(locked[1], "", 1);
    nap();
    lockf(files[1], F_ULOCK, 0);
    _exit(0);
}
static void await_locker(void) {
    char byte;
    make_locker();
    read(locked[0], &byte, 1);
}
CASE(lockf, await_locker(), expect(lockf(files[0], F_LOCK, 0) == 0, "lockf"); lockf(files[0], F_ULOCK, 0);
     waitpid(child, NULL, 0), )
static char command[32];
CASE(system, , expect(system(command) == 0, "system"), )
static FILE *program;
CASE(pclose, program = popen(command, "r"), expect(pclose(program) == 0, "pclose"), )

// ---- what nobody stands before

#if defined(__x86_64__)
__attribute__((noinline)) static void raw_sleep(void) {
    struct timespec time = {naptime / 1000, naptime % 1000 * 1000000};
    long result = SYS_nanosleep;
    __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(NULL) : "rcx", "r11", "memory");
}
#else
__attribute__((noinline)) static void raw_sleep(void) {
    struct timespec time = {naptime / 1000, naptime % 1000 * 1000000};
    register long number __asm__("x8") = SYS_nanosleep, result __asm__("x0") = (long)&time;
    register long rest __asm__("x1") = 0;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(number), "r"(rest) : "memory");
}
#endif
CASE(raw_sleep, , raw_sleep(), )

static const struct {
    const char *name;
    void (*prepare)(void), (*wait)(void), (*end)(void);
    int prepares_itself;  // it says itself when the main thread may wait
} cases[] = {
#define ROW(name, itself)                                                                                              \
    { #name, prepare_##name, wait_##name, end_##name, itself }
    ROW(sem_wait, 0),
    ROW(sem_timedwait, 0),
    ROW(sem_clockwait, 0),
    ROW(pthread_mutex_lock, 0),
    ROW(pthread_mutex_timedlock, 0),
    ROW(pthread_mutex_clocklock, 0),
    ROW(pthread_rwlock_rdlock, 0),
    ROW(pthread_rwlock_wrlock, 0),
    ROW(pthread_rwlock_timedrdlock, 0),
    ROW(pthread_rwlock_clockwrlock, 0),
    ROW(pthread_cond_wait, 0),
    ROW(pthread_cond_timedwait, 0),
    ROW(pthread_cond_clockwait, 0),
    ROW(pthread_barrier_wait, 0),
    ROW(pthread_join, 1),
    ROW(pthread_timedjoin_np, 1),
    ROW(pthread_once, 1),
    ROW(usleep, 0),
    ROW(nanosleep, 0),
    ROW(clock_nanosleep, 0),
    ROW(read, 0),
    ROW(read_chk, 0),
    ROW(readv, 0),
    ROW(recv, 0),
    ROW(recvfrom, 0),
    ROW(recvmsg, 0),
    ROW(read_event, 0),
    ROW(accept, 0),
    ROW(write, 0),
    ROW(poll, 0),
    ROW(poll_chk, 0),
    ROW(ppoll, 0),
    ROW(select, 0),
    ROW(pselect, 0),
    ROW(epoll_wait, 0),
    ROW(epoll_pwait, 0),
    ROW(flock, 0),
    ROW(futex, 0),
    ROW(futex_lock_pi, 0),
    ROW(wait, 0),
    ROW(waitpid, 0),
    ROW(wait4, 0),
    ROW(waitid, 0),
    ROW(read_from_child, 0),
    ROW(mtx_lock, 0),
    ROW(mtx_timedlock, 0),
    ROW(cnd_wait, 0),
    ROW(cnd_timedwait, 0),
    ROW(thrd_join, 1),
    ROW(thrd_sleep, 0),
    ROW(call_once, 1),
    ROW(pause, 0),
    ROW(sigsuspend, 0),
    ROW(sigwait, 0),
    ROW(sigwaitinfo, 0),
    ROW(sigtimedwait, 0),
    ROW(semop, 0),
    ROW(semtimedop, 0),
    ROW(msgrcv, 0),
    ROW(msgsnd, 0),
    ROW(mq_receive, 0),
    ROW(mq_timedreceive, 0),
    ROW(aio_suspend, 0),
    ROW(io_getevents, 0),
    ROW(eventfd_read, 0),
    ROW(recvmmsg, 0),
    ROW(splice, 0),
    ROW(sendfile, 0),
    ROW(fgets, 0),
    ROW(getline, 0),
    ROW(getdelim, 0),
    ROW(fread, 0),
    ROW(fgetc, 0),
    ROW(fflush, 0),
    ROW(flockfile, 0),
    ROW(ofd_lock, 0),
    ROW(lockf, 0),
    ROW(system, 0),
    ROW(pclose, 0),
    ROW(raw_sleep, 0),
};
#define COUNT (sizeof cases / sizeof *cases)

static int turn;

static void *worker(void *argument) {
    for (size_t i = 0; i < COUNT; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) < (int)i) usleep(500);
        cases[i].prepare();
        if (!cases[i].prepares_itself) sem_post(&prepared);
        nap();
        cases[i].end();
    }
    return argument;
}

static void prepare_descriptors(const char *file) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct epoll_event read_event = {EPOLLIN, {.ptr = &read_event}}, read_inet = {EPOLLIN, {.ptr = inet}};
    expect(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "pipe");
    listening = socket(AF_INET, SOCK_STREAM, 0);
    expect(bind(listening, (struct sockaddr *)&address, sizeof address) == 0 && listen(listening, 4) == 0, "listen");
    connect_to();
    inet[0] = connected;
    inet[1] = accept(listening, NULL, NULL);
    event = eventfd(0, 0);
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, event, &read_event);
    epoll_ctl(epoll, EPOLL_CTL_ADD, inet[0], &read_inet);
    for (int i = 0; i < 2; i++) files[i] = open(file, O_RDWR | O_CREAT, 0600);
    unlink(file);
    expect(write(files[0], "12345678", 8) == 8, "write");
    expect(pipe(other_ends) == 0 && pipe(locked) == 0, "pipe");
    in = fdopen(ends[0], "r");
    out = fdopen(ends[1], "w");
    mtx_init(&mtx, mtx_timed);
    mtx_init(&mtx_gate, mtx_plain);
    cnd_init(&cnd);
    set_id = semget(IPC_PRIVATE, 1, 0600);
    queue_id = msgget(IPC_PRIVATE, 0600);
    expect(set_id >= 0 && queue_id >= 0, "System V");
    char name[32];
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
    snprintf(name, sizeof name, "/waiting_kinds_%d", getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attributes);
    expect(queue >= 0 && mq_unlink(name) == 0, "mq_open");
    expect(syscall(SYS_io_setup, 1, &context) == 0, "io_setup");
    snprintf(command, sizeof command, "sleep %ld.%03ld", naptime / 1000, naptime % 1000);
}

static void prepare_signals(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&no_signals);
    sigemptyset(&signal_set);
    sigaddset(&signal_set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signal_set, NULL);
    main_thread = pthread_self();
}

int main(int count, char **arguments) {
    pthread_t thread;
    naptime = count > 1 ? atol(arguments[1]) : 30;
    sem_init(&prepared, 0, 0);
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    prepare_descriptors(count > 2 ? arguments[2] : "waiting_kinds.lock");
    prepare_signals();
    pthread_create(&thread, NULL, worker, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        __atomic_store_n(&turn, (int)i, __ATOMIC_SEQ_CST);
        sem_wait(&prepared);
        long before = now();
        cases[i].wait();
        printf("%s %ld\n", cases[i].name, now() - before);
        fflush(stdout);
    }
    pthread_join(thread, NULL);
    semctl(set_id, 0, IPC_RMID);
    msgctl(queue_id, IPC_RMID, NULL);
    return 0;
}
