// A program that somebody attaches to while it does all that makes this hard: threads that start and end, exceptions,
// longjmp, signal handlers on two stacks, forks, waits that must not be interrupted, vector registers and errno that
// must stay. Every function has callers that its name tells, and `three` calls `two` twice, which calls `one` three
// times. It checks itself until SIGTERM comes. Then it writes to the file that it was given how often it went round, or
// what went wrong.

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>

#include "program.h"

static volatile bool over;
static volatile long rounds, briefs, alarms, children, events;
static const char *volatile wrong;

QUIET static void expect(bool holds, const char *what) {
    if (!holds) wrong = what;
}

QUIET static void rest(long microseconds) {
    timespec time = {0, microseconds * 1000};
    nanosleep(&time, nullptr);
}

extern "C" {
APART void one() { KEEP(rounds); }
APART void two() {
    for (int i = 0; i < 3; i++) one();
}
APART void three() {
    for (int i = 0; i < 2; i++) two();
}

struct Error {
    int number;
};
static thread_local sigjmp_buf landing;
static thread_local unsigned seed = 1;

QUIET static unsigned pick(unsigned below) { return (seed = seed * 1103515245 + 12345) / 65536 % below; }

APART void level4(int how) {
    three();
    if (how == 1) throw Error{how};
    if (how == 2) siglongjmp(landing, 1);
}
APART void level3(int how) {
    level4(how);
    if (pick(2)) three();
}
APART void level2(int how) {
    try {
        level3(how);
    } catch (Error &) {
        three();
        if (pick(2)) throw;
    }
}
APART void level1(int how) {
    if (sigsetjmp(landing, 1) == 0) level2(how);
    else three();
}
APART void level0() {
    try {
        level1(static_cast<int>(pick(4)));
    } catch (Error &) {
        three();
    }
}

APART void work(int number) {
    seed = static_cast<unsigned>(number);
    while (!over) {
        level0();
        rounds++;
        rest(100);
    }
}

APART void brief_part() { three(); }
APART void *brief(void *) {
    brief_part();
    briefs++;
    return nullptr;
}

APART void in_alarm() { three(); }
APART void on_alarm(int) {
    int before = errno;
    in_alarm();
    alarms++;
    errno = before;
}
APART void in_other() { three(); }
APART void on_other(int) { in_other(); }

APART void child_part() { three(); }
APART void child() {
    child_part();
    _exit(7);
}
}

QUIET static void *worker(void *number) {
    stack_t stack = {malloc(65536), 0, 65536};
    sigaltstack(&stack, nullptr);
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, SIGALRM);
    sigaddset(&handled, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
    work(static_cast<int>(reinterpret_cast<intptr_t>(number)));
    pthread_sigmask(SIG_BLOCK, &handled, nullptr);
    return nullptr;
}

QUIET static void *churn(void *) {
    while (!over) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, brief, nullptr) == 0) pthread_join(thread, nullptr);
        rest(1000);
    }
    return nullptr;
}

static int bell;

// No handler runs on this thread, so nothing may end its waits but what it waits for.
QUIET static void *wait_for_events(void *) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event = {};
    event.events = EPOLLIN;
    epoll_ctl(set, EPOLL_CTL_ADD, bell, &event);
    while (!over) {
        int found = epoll_wait(set, &event, 1, -1);
        expect(found == 1, "epoll_wait was interrupted");
        uint64_t count;
        expect(read(bell, &count, sizeof count) == sizeof count, "no event was there");
        events++;
    }
    return nullptr;
}

QUIET static void *ring(void *) {
    while (!over) {
        timespec time = {0, 20000000};
        expect(nanosleep(&time, nullptr) == 0, "nanosleep was interrupted");
        uint64_t one_more = 1;
        expect(write(bell, &one_more, sizeof one_more) == sizeof one_more, "the bell cannot be rung");
    }
    return nullptr;
}

#ifdef __x86_64__
#define VECTOR "+x"
#else
#define VECTOR "+w"
#endif

// Vector registers and errno stay as they are.
QUIET static void *keep_registers(void *) {
    typedef double Vector __attribute__((vector_size(16)));
    while (!over) {
        errno = 1234;
        Vector values[6];
        for (int i = 0; i < 6; i++) values[i] = Vector{1.5 + i, 2.5 + i};
        for (long i = 0; i < 200000; i++) {
            __asm__ __volatile__(""
                                 : VECTOR(values[0]), VECTOR(values[1]), VECTOR(values[2]), VECTOR(values[3]),
                                   VECTOR(values[4]), VECTOR(values[5]));
        }
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 2; j++) expect(values[i][j] == 1.5 + i + j, "a vector register has changed");
        expect(errno == 1234, "errno has changed");
        rest(500);
    }
    return nullptr;
}

QUIET static void *fork_children(void *) {
    while (!over) {
        pid_t process = fork();
        if (process == 0) child();
        int status = 0;
        expect(process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 7,
               "a child did not end as it should");
        children++;
        rest(20000);
    }
    return nullptr;
}

QUIET int main(int argc, char **argv) {
    struct sigaction action = {};
    action.sa_flags = SA_RESTART;
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, nullptr);
    action.sa_handler = on_other;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    sigset_t everything;
    sigfillset(&everything);
    pthread_sigmask(SIG_BLOCK, &everything, nullptr);
    bell = eventfd(0, EFD_CLOEXEC);
    void *(*const all[])(void *) = {worker, worker, churn, wait_for_events, ring, keep_registers, fork_children};
    const int count = sizeof all / sizeof *all;
    pthread_t threads[count];
    for (intptr_t i = 0; i < count; i++) pthread_create(&threads[i], nullptr, all[i], reinterpret_cast<void *>(i + 1));
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    for (int i = 0;; i++) {
        timespec time = {0, 1000000};
        if (sigtimedwait(&end, nullptr, &time) == SIGTERM) break;
        pthread_kill(threads[i % 2], i % 4 < 2 ? SIGALRM : SIGUSR1);
    }
    over = true;
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    FILE *file = argc > 1 ? fopen(argv[1], "we") : stdout;
    if (wrong) fprintf(file, "wrong: %s\n", wrong);
    else fprintf(file, "right: %ld %ld %ld %ld %ld\n", rounds, briefs, alarms, children, events);
    fclose(file);
    return wrong ? 3 : 0;
}
