// Confines itself, by the way that its argument names, and goes on: with calls, and with the end of a thread that has
// made calls before. Then it exits with 3. Its filter ends the program for what it does not allow.
//   prctl syscall  itself and its threads to come      tsync  all its threads      tsc  itself, from the counter
//   inline         all its threads, by a system call instruction of its own; the filter allows prctl
//   thread         the thread that ends, from the counter
//   asks probes fails nothing  does not, in the end

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "program.h"

static volatile int is_ready, may_go;

APART static int leaf(int n) { return n; }

APART static int before(void) {
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += leaf(i);
    return sum;
}

APART static int after(void) {
    int sum = 0;
    for (int i = 0; i < 20000; i++) sum += leaf(i);
    return sum;
}

static void *worker(void *kind) {
    before();
    if (!strcmp(kind, "thread")) prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    is_ready = 1;
    while (!may_go) continue;
    after();
    return NULL;
}

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define RULES(...)                                                                                                     \
    {                                                                                                                  \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), ALLOW(write), ALLOW(exit),              \
            ALLOW(exit_group), ALLOW(futex), ALLOW(madvise), ALLOW(munmap), ALLOW(rt_sigprocmask),                     \
            __VA_ARGS__ BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)                                            \
    }
#define ALLOW_PRCTL BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),

static struct sock_filter strict[] = RULES(), lenient[] = RULES(ALLOW_PRCTL);
static struct sock_fprog filter = {sizeof strict / sizeof *strict, strict},
                         lenient_filter = {sizeof lenient / sizeof *lenient, lenient}, empty = {0, strict};

QUIET static long system_call(long number, long a, long b, const void *c) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = (long)c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

// 0 when what was to happen did.
QUIET static long confine(const char *kind) {
    unsigned action = SECCOMP_RET_KILL_PROCESS;
    if (!strcmp(kind, "prctl")) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
    if (!strcmp(kind, "syscall")) return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
    if (!strcmp(kind, "tsync"))
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    if (!strcmp(kind, "tsc")) return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (!strcmp(kind, "inline"))
        return system_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &lenient_filter);
    if (!strcmp(kind, "asks")) return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
    if (!strcmp(kind, "probes"))
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) != -1 || errno != EFAULT;
    if (!strcmp(kind, "fails"))
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &empty, 0, 0) != -1 || errno != EINVAL;
    return 0;
}

int main(int argc, char **argv) {
    char *kind = argc > 1 ? argv[1] : "nothing";
    before();
    pthread_t thread;
    pthread_create(&thread, NULL, worker, kind);
    while (!is_ready) continue;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (confine(kind)) return 1;
    int sum = after();
    may_go = 1;
    pthread_join(thread, NULL);
    char text[64];
    int size = snprintf(text, sizeof text, "%s %d\n", kind, sum);
    if (write(1, text, (size_t)size) != size) return 1;
    _exit(3);
}
