// Confines itself (seccomp) when SIGUSR1 comes, by a system call that nobody is told of, so that only few system calls
// are left to it, and goes on until SIGTERM comes, which ends it with status 0.

#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static volatile int over, confines;
volatile long rounds;

__attribute__((noinline)) void leaf(void) { rounds++; }
__attribute__((noinline)) void serve(void) {
    for (int i = 0; i < 100; i++) leaf();
}

QUIET static void note(int signal) { *(signal == SIGTERM ? &over : &confines) = 1; }

// Not through the C library, where Fathom stands.
QUIET static long system_call(long number, long a, long b, long c) {
    long result;
    __asm__ __volatile__("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// The runtime asks by prctl whether the program has confined itself. A filter without that cannot be survived.
QUIET static void confine(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_prctl),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_clock_nanosleep),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_restart_syscall),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (system_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program)) _exit(3);
    confines = 2;
}

int main(void) {
    signal(SIGTERM, note);
    signal(SIGUSR1, note);
    while (!over) {
        serve();
        usleep(1000);
        if (confines == 1) confine();
    }
    _exit(confines == 2 ? 0 : 4);
}
