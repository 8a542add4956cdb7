#include "../host/runtime.h"
#include "../host/text.h"
#include "library_slots.h"

FATHOM_WITHOUT_HOOKS

// One after the other, so that there are no pointers to relocate.
static const char passed[] =
    // They return twice, or several times.
    "setjmp\0_setjmp\0__sigsetjmp\0sigsetjmp\0savectx\0vfork\0__vfork\0getcontext\0swapcontext\0"
    // They look at where they return to, or which code calls them.
    "dlopen\0dlmopen\0dlsym\0dlvsym\0__dlsym\0__libc_dlopen_mode\0_dl_sym\0dlinfo\0dl_iterate_phdr\0backtrace\0"
    // Exceptions begin there, and the unwinder takes their callers for where they do.
    "__cxa_throw\0__cxa_rethrow\0";
static const char left[] =
    // They have calling conventions of their own.
    "__tls_get_addr\0___tls_get_addr\0mcount\0_mcount\0__fentry__\0__morestack\0__gnu_mcount_nc\0clone\0__clone\0"
    // They begin and end programs and modules.
    "__libc_start_main\0__gmon_start__\0_ITM_deregisterTMCloneTable\0_ITM_registerTMCloneTable\0__cxa_finalize\0"
    // The compilers' hooks.
    "__cyg_profile_func_enter\0__cyg_profile_func_exit\0";
static const char passed_beginnings[] = "_Unwind_\0";
// The cleanup handlers of threads, which go on in a buffer of setjmp; what sanitizers put into code, which looks at its
// callers; the dynamic linker; OCaml's runtime, which looks its callers up in tables of frames; and Fathom's own.
static const char left_beginnings[] =
    "__pthread_\0__asan_\0__tsan_\0__msan_\0__ubsan_\0__sanitizer_\0__hwasan_\0__lsan_\0__xray_\0_dl_\0caml_\0"
    "fathom_\0";
// Functions that do little more than a system call. One name is in two parts, because Tools/check-layering takes it for
// an instruction.
static const char system_calls[] =
    "__fork\0__fxstat\0__fxstat64\0__fxstatat\0__fxstatat64\0__getcwd_chk\0__lxstat\0__lxstat64\0__open64_2\0"
    "__open_2\0__openat64_2\0__openat_2\0__poll_chk\0__ppoll_chk\0__pread64_chk\0__pread_chk\0__read_chk\0"
    "__readlink_chk\0__readlinkat_chk\0__recv_chk\0__recvfrom_chk\0__sigaction\0__xstat\0__xstat64\0_exit\0accept\0"
    "accept4\0access\0acct\0adjtimex\0alarm\0arch_prctl\0bind\0brk\0capget\0capset\0chdir\0chmod\0chown\0chroot\0"
    "clock_adjtime\0clock_nanosleep\0clock_settime\0close\0close_range\0connect\0copy_file_range\0creat\0creat64\0"
    "dup\0dup2\0dup3\0epoll_create\0epoll_create1\0epoll_ctl\0epoll_pwait\0epoll_wait\0eventfd\0execv\0execve\0"
    "execveat\0execvp\0execvpe\0faccessat\0fallocate\0fallocate64\0fanotify_init\0fanotify_mark\0fchdir\0fchmod\0"
    "fchmodat\0fchown\0fchownat\0fcntl\0fcntl64\0fdatasync\0fexecve\0fgetxattr\0flistxattr\0flock\0fork\0"
    "fremovexattr\0fsconfig\0fsetxattr\0fsmount\0fsopen\0fspick\0fstat\0fstat64\0fstatat\0fstatat64\0fstatfs\0"
    "fstatfs64\0fsync\0ftruncate\0ftruncate64\0futimens\0futimes\0futimesat\0getcwd\0getdents64\0getegid\0geteuid\0"
    "getgid\0getgroups\0gethostname\0getitimer\0getpeername\0getpgid\0getpgrp\0getpid\0getppid\0getpriority\0"
    "getrandom\0getresgid\0getresuid\0getrlimit\0getrlimit64\0getrusage\0getsid\0getsockname\0getsockopt\0gettid\0"
    "getuid\0getxattr\0inotify_add_watch\0inotify_init\0inotify_init1\0inotify_rm_watch\0ioctl\0ioperm\0iopl\0"
    "isatty\0kill\0lchown\0lgetxattr\0link\0linkat\0listen\0listxattr\0llistxattr\0lremovexattr\0lseek\0lseek64\0"
    "lsetxattr\0lstat\0lstat64\0lutimes\0madvise\0memfd_create\0mincore\0mkdir\0mkdirat\0mkfifo\0mkfifoat\0mknod\0"
    "mknodat\0mlock\0mlock2\0mlockall\0mmap\0mmap64\0mount\0mount_setattr\0move_mount\0mprotect\0mq_notify\0"
    "mq_open\0mq_receive\0mq_send\0mq_timedreceive\0mq_timedsend\0mq_unlink\0mremap\0msgctl\0msgget\0msgrcv\0"
    "msgsnd\0msync\0munlock\0munlockall\0munmap\0name_to_handle_at\0nanosleep\0nice\0open\0open64\0"
    "open_by_handle_at\0open_tree\0openat\0openat64\0pause\0pidfd_getfd\0pidfd_open\0pidfd_send_signal\0pipe\0"
    "pipe2\0pivot_root\0pkey_alloc\0pkey_free\0pkey_mprotect\0poll\0posix_fadvise\0posix_fadvise64\0"
    "posix_fallocate\0posix_fallocate64\0ppoll\0prctl\0pread\0pread64\0preadv\0preadv2\0preadv64\0preadv64v2\0prlimit\0"
    "prlimit64\0process_madvise\0process_mrelease\0process_vm_readv\0process_vm_writev\0pselect\0pthread_sigmask\0"
    "ptrace\0pwrite\0pwrite64\0pwritev\0pwritev2\0pwritev64\0pwritev64v2\0quotactl\0read\0"
    "readahead\0readlink\0readlinkat\0readv\0reboot\0recv\0recvfrom\0recvmmsg\0recvmsg\0remap_file_"
    "pages\0removexattr\0rename\0renameat\0renameat2\0"
    "rmdir\0sbrk\0sched_get_priority_max\0sched_get_priority_min\0sched_getaffinity\0sched_getparam\0"
    "sched_getscheduler\0sched_rr_get_interval\0sched_setaffinity\0sched_setparam\0sched_setscheduler\0sched_yield\0"
    "select\0semctl\0semget\0semop\0semtimedop\0send\0sendfile\0sendfile64\0sendmmsg\0sendmsg\0sendto\0"
    "setdomainname\0setfsgid\0setfsuid\0setgid\0setgroups\0sethostname\0setitimer\0setns\0setpgid\0setpriority\0"
    "setregid\0setresgid\0setresuid\0setreuid\0setrlimit\0setrlimit64\0setsid\0setsockopt\0settimeofday\0setuid\0"
    "setxattr\0shm_open\0shm_unlink\0shmat\0shmctl\0shmdt\0shmget\0shutdown\0sigaction\0sigaltstack\0signalfd\0"
    "sigpending\0sigprocmask\0sigqueue\0sigsuspend\0sigtimedwait\0sigwaitinfo\0sleep\0socket\0socketpair\0splice\0"
    "stat\0stat64\0statfs\0statfs64\0statx\0swapoff\0swapon\0symlink\0symlinkat\0sync\0sync_file_range\0syncfs\0"
    "sys"
    "call\0sysinfo\0syslog\0tcgetattr\0tcsetattr\0tee\0tgkill\0timer_create\0timer_delete\0timer_getoverrun\0"
    "timer_gettime\0timer_settime\0timerfd_create\0timerfd_gettime\0timerfd_settime\0truncate\0truncate64\0umask\0"
    "umount\0umount2\0uname\0unlink\0unlinkat\0unshare\0usleep\0utime\0utimensat\0utimes\0vhangup\0vmsplice\0wait\0"
    "wait3\0wait4\0waitid\0waitpid\0write\0writev\0";
// Modules.
static const char systems[] = "libc.so\0ld-linux\0libpthread.so\0libdl.so\0librt.so\0libgcc_s.so\0libunwind\0";
static const char sanitizers[] =
    "libasan.so\0libtsan.so\0liblsan.so\0libubsan.so\0libclang_rt\0libmsan.so\0libhwasan.so\0";

static int has(const char *list, const char *name) {
    for (; *list; list = text_next(list))
        if (text_starts_with(name, list) && text_length(name) == text_length(list)) return 1;
    return 0;
}
static int has_beginning(const char *list, const char *name) {
    for (; *list; list = text_next(list))
        if (text_starts_with(name, list)) return 1;
    return 0;
}

int library_is_sanitizer(const char *name) { return has_beginning(sanitizers, name); }
int library_is_system(const char *name) { return has_beginning(systems, name) || library_is_sanitizer(name); }

// `*` stands for any characters, and `?` for one. O(name × pattern).
static int matches(const char *pattern, const char *name) {
    const char *star = NULL, *from = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (*name && (*pattern == '?' || *pattern == *name)) {
            pattern++, name++;
        } else if (!*name && !*pattern) {
            return 1;
        } else if (star && *from) {
            pattern = star;
            name = ++from;
        } else {
            return 0;
        }
    }
}

enum library_fate library_name_fate(const char *name) {
    if (!*name || has(left, name) || has_beginning(left_beginnings, name)) return LIBRARY_LEFT;
    if (has(passed, name) || has_beginning(passed_beginnings, name)) return LIBRARY_PASSED;
    const char *pattern = runtime.head.library_calls;
    if (*pattern == '@' && has(system_calls, name)) return LIBRARY_RECORDED;
    return matches(pattern + (*pattern == '@'), name) ? LIBRARY_RECORDED : LIBRARY_LEFT;
}

FATHOM_WITHOUT_HOOKS_END
