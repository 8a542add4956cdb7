// Blocks signals, SIGTRAP among them, in every way that there is, and then calls functions for the first time. Prints
// what is blocked, as it sees it, and what comes of a SIGTRAP that is sent: each line has to be what it is without
// Fathom. Every case runs in a process of its own.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "program.h"

// Each has a number of its own, so that it is called once in each process.
#define FRESH(n)                                                                                                       \
    APART static void fresh##n(const char *where) { printf("  %s: call %d\n", where, n); }
FRESH(0)
FRESH(1)
FRESH(2)
FRESH(3)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static sigset_t all;
static char *self;

static void tell(const char *where) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    printf("  %s: SIGTRAP %d, SIGUSR1 %d\n", where, sigismember(&now, SIGTRAP), sigismember(&now, SIGUSR1));
}

// ---- threads

APART static void *thread(void *where) {
    tell(where);
    fresh0(where);
    return where;
}
static void by_attributes(void) {
    pthread_attr_t attributes;
    pthread_t made;
    sigset_t back;
    pthread_attr_init(&attributes);
    printf("  none %d\n", pthread_attr_getsigmask_np(&attributes, &back));
    pthread_attr_setsigmask_np(&attributes, &all);
    printf("  %d", pthread_attr_getsigmask_np(&attributes, &back));
    printf(", SIGTRAP %d\n", sigismember(&back, SIGTRAP));
    pthread_create(&made, &attributes, thread, "thread");
    pthread_join(made, NULL);
    tell("main");
    fresh1("main");
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&back);
    pthread_attr_setsigmask_np(&attributes, &back);
    pthread_create(&made, &attributes, thread, "unblocked thread");
    pthread_join(made, NULL);
}
static void by_inheritance(void) {
    pthread_t made;
    void *value;
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_create(&made, NULL, thread, "heir");
    pthread_join(made, &value);
    printf("  %s\n", (char *)value);
}

// ---- contexts

static ucontext_t back, other;
static char stack[256 * 1024];
APART static void coroutine(void) {
    tell("coroutine");
    fresh0("coroutine");
    swapcontext(&other, &back);
    tell("coroutine again");
    fresh1("coroutine again");
}
static void by_context(void) {
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    other.uc_link = &back;
    other.uc_sigmask = all;
    makecontext(&other, coroutine, 0);
    swapcontext(&back, &other);
    tell("back");
    fresh2("back");
    swapcontext(&back, &other);
    fresh3("through uc_link");
}
static void by_kept_context(void) {
    volatile int times = 0;
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    getcontext(&back);
    tell("kept");
    if (times++) return fresh0("went on");
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    tell("unblocked");
    setcontext(&back);
}

// ---- for a while

static volatile int handled;
APART static void on_alarm(int number) {
    (void)number;
    if (!handled++) fresh0("handler");
}
static void soon(void) {
    struct itimerval time = {{0, 0}, {0, 3000}};
    setitimer(ITIMER_REAL, &time, NULL);
}
static void while_it_waits(void) {
    struct sigaction action = {.sa_handler = on_alarm, .sa_mask = all};
    struct timespec minute = {60, 0};
    struct epoll_event event;
    sigset_t without = all;
    sigdelset(&without, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    soon();
    printf("  sigsuspend %d\n", sigsuspend(&without));
    tell("after sigsuspend");
    handled = 0, soon();
    printf("  ppoll %d\n", ppoll(NULL, 0, &minute, &without));
    handled = 0, soon();
    printf("  pselect %d\n", pselect(0, NULL, NULL, NULL, &minute, &without));
    handled = 0, soon();
    printf("  epoll_pwait %d\n", epoll_pwait(epoll_create1(0), &event, 1, 60000, &without));
    tell("after all");
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&without);
    handled = 0, soon();
    printf("  ppoll %d\n", ppoll(NULL, 0, &minute, &without));
    tell("still blocked");
    fresh1("main");
}

APART static void on_user(int number) {
    (void)number;
    fresh2("in a handler that blocks all");
}
static void in_handlers(void) {
    struct sigaction action = {.sa_handler = on_user, .sa_mask = all}, old;
    for (int round = 0; round < 3; round++) {
        sigaction(SIGUSR2, &action, &old);
        printf("  before: SIGTRAP %d, SIGUSR1 %d\n", sigismember(&old.sa_mask, SIGTRAP),
               sigismember(&old.sa_mask, SIGUSR1));
        raise(SIGUSR2);
        if (round == 1) signal(SIGUSR2, on_user);
    }
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGUSR2, NULL, &old);
    printf("  then: SIGTRAP %d\n", sigismember(&old.sa_mask, SIGTRAP));
}

// ---- signals that wait

static void on_trap(int number) { printf("  handled %d\n", number); }
static void that_is_pending(void) {
    sigset_t pending;
    signal(SIGTRAP, on_trap);
    raise(SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    raise(SIGTRAP);
    sigpending(&pending);
    printf("  pending %d\n", sigismember(&pending, SIGTRAP));
    fresh0("while it is pending");
    tell("blocked");
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    tell("unblocked");
    raise(SIGTRAP);
    sighold(SIGTRAP);
    raise(SIGTRAP);
    puts("  held");
    sigrelse(SIGTRAP);
    fresh1("in the end");
}
static void that_is_read(void) {
    struct signalfd_siginfo info = {0};
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    int descriptor = signalfd(-1, &all, 0);
    fresh0("before");
    kill(getpid(), SIGTRAP);
    printf("  %d", read(descriptor, &info, sizeof info) == sizeof info);
    printf(", signal %u, sent by itself %d, code %d\n", info.ssi_signo, info.ssi_pid == (unsigned)getpid(),
           info.ssi_code);
    fresh1("after");
}
static void that_is_waited_for(void) {
    siginfo_t info;
    int number = 0;
    struct timespec none = {0, 0};
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    kill(getpid(), SIGTRAP);
    fresh0("before");
    printf("  sigwait %d", sigwait(&all, &number));
    printf(", signal %d\n", number);
    printf("  sigtimedwait %d\n", sigtimedwait(&all, &info, &none));
    raise(SIGTRAP);
    printf("  sigwaitinfo %d", sigwaitinfo(&all, &info));
    printf(", code %d\n", info.si_code);
    fresh1("after");
}
static void *wait_for_trap(void *argument) {
    int number = 0;
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigwait(&trap, &number);
    printf("  another thread got signal %d\n", number);
    return argument;
}
static void that_another_thread_waits_for(void) {
    pthread_t made;
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_create(&made, NULL, wait_for_trap, NULL);
    fresh0("before");
    kill(getpid(), SIGTRAP);
    pthread_join(made, NULL);
    fresh1("after");
}

// ---- other programs

static void in_programs(void) {
    char *arguments[] = {self, "told", NULL};
    posix_spawnattr_t attributes;
    pid_t child;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &all);
    fflush(stdout);
    if (!posix_spawn(&child, self, NULL, &attributes, arguments, environ)) waitpid(child, NULL, 0);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (!posix_spawn(&child, self, NULL, NULL, arguments, environ)) waitpid(child, NULL, 0);
    fresh0("after");
    execv("/none", arguments);
    fresh1("after a failure");
    execv(self, arguments);
}

// ---- what the C library does not see

static void by_system_call(void) {
    unsigned long mask = ~0ul;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    fresh0("by a system call");
    tell("then");
}
static void without_return(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("  confined %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    fresh0("without sigreturn");
}

#define CASE(name)                                                                                                     \
    { #name, name }
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(by_attributes),      CASE(by_inheritance),
             CASE(by_context),         CASE(by_kept_context),
             CASE(while_it_waits),     CASE(in_handlers),
             CASE(that_is_pending),    CASE(that_is_read),
             CASE(that_is_waited_for), CASE(that_another_thread_waits_for),
             CASE(in_programs),        CASE(by_system_call),
             CASE(without_return)};

int main(int argc, char **argv) {
    static char path[4096];
    path[readlink("/proc/self/exe", path, sizeof path - 1)] = 0;
    self = path;
    sigfillset(&all);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1) {
        tell(argv[1]);
        fresh0(argv[1]);
        return 0;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        puts(cases[i].name);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            cases[i].run();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status) printf("  status %x\n", status);
    }
    return 0;
}
