// The functions that stand behind those of this library: what a call goes on to when the runtime has been told of it.
//
// All of them are looked for once, when this library is loaded, or by the first call that comes before that: the
// loader's own allocations, and what functions do that choose functions (IFUNC). dlsym is not asked, because it may
// allocate, takes the loader's lock, and would be called under whatever lock the program holds. The modules' own tables
// are read instead (CTraceRuntimeHostSymbols.h), which takes no lock and calls nothing.
//
// What is found is what dlsym(RTLD_NEXT, name) finds: the first definition in a module behind this one, in its default
// version; or, where this library was loaded into a running program, the one in the libraries that it needs.
//
// What is not there yet comes with a library that is loaded later:
//
//   the unwinder    is looked for at each call, because its library may be unloaded and another one loaded. The caller
//                   has called another of the unwinder's functions before, so the word through which it did leads
//                   there, and both modules stay while they are on the stack. No lock is taken. Before glibc 2.35,
//                   which has nothing that tells a module by an address without a lock, the list of modules is gone
//                   through, as that system's unwinder does by itself for each frame.
//   anything else   can be there only before glibc 2.34, in a program that loads libpthread or libdl later. The list of
//                   modules is gone through, whose lock is not held while libraries' constructors run. libpthread is
//                   never unloaded, so what is found there is kept.
//   nowhere         A function that this C library does not have fails, with ENOSYS.

#ifndef FATHOM_BEHIND_H
#define FATHOM_BEHIND_H

#include <stddef.h>
#include <stdint.h>

#include "CTraceRuntime.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default"), no_instrument_function))
#define JUMP __attribute__((musttail)) return

// clang-format off
#define JUMPS_BEHIND(DO)                                                                                               \
    DO(longjmp) DO(_longjmp) DO(siglongjmp) DO(__longjmp_chk) DO(setcontext) DO(swapcontext) DO(_Unwind_SetIP)         \
    DO(_Unwind_GetCFA) DO(__pthread_register_cancel) DO(__pthread_register_cancel_defer)                               \
    DO(__pthread_unregister_cancel) DO(__pthread_unregister_cancel_restore) DO(__pthread_unwind_next)
#define PROCESS_BEHIND(DO)                                                                                             \
    DO(__libc_start_main) DO(dlopen) DO(dlmopen) DO(dlsym) DO(dlvsym) DO(dlclose) DO(execve) DO(execvpe)               \
    DO(fexecve) DO(execveat) DO(posix_spawn) DO(posix_spawnp) DO(system) DO(popen) DO(prctl) DO(syscall) DO(_exit)     \
    DO(_Exit) DO(dl_iterate_phdr) DO(_dl_find_object) DO(pthread_key_create) DO(pthread_setspecific)
#define WAITS_BEHIND(DO)                                                                                               \
    DO(sem_wait) DO(sem_timedwait) DO(sem_clockwait) DO(sem_getvalue) DO(sem_post)                                     \
    DO(pthread_mutex_lock) DO(pthread_mutex_timedlock) DO(pthread_mutex_clocklock) DO(pthread_mutex_trylock)           \
    DO(pthread_mutex_unlock) DO(pthread_cond_wait) DO(pthread_cond_timedwait) DO(pthread_cond_clockwait)               \
    DO(pthread_cond_signal) DO(pthread_cond_broadcast) DO(pthread_rwlock_rdlock) DO(pthread_rwlock_wrlock)             \
    DO(pthread_rwlock_tryrdlock) DO(pthread_rwlock_trywrlock) DO(pthread_rwlock_timedrdlock)                           \
    DO(pthread_rwlock_timedwrlock) DO(pthread_rwlock_clockrdlock) DO(pthread_rwlock_clockwrlock)                       \
    DO(pthread_rwlock_unlock) DO(pthread_barrier_wait) DO(pthread_create) DO(pthread_join) DO(pthread_timedjoin_np)    \
    DO(pthread_clockjoin_np) DO(pthread_once) DO(sleep) DO(usleep) DO(nanosleep) DO(clock_nanosleep) DO(pause)         \
    DO(read) DO(readv) DO(recv) DO(recvfrom) DO(recvmsg) DO(accept) DO(accept4) DO(connect) DO(write) DO(writev)       \
    DO(send) DO(sendto) DO(sendmsg) DO(socketpair) DO(poll) DO(ppoll) DO(select) DO(pselect) DO(epoll_ctl)             \
    DO(epoll_wait) DO(epoll_pwait) DO(epoll_pwait2) DO(__read_chk) DO(__recv_chk) DO(__recvfrom_chk) DO(__poll_chk)    \
    DO(__ppoll_chk) DO(flock) DO(wait) DO(waitpid) DO(waitid) DO(wait3) DO(wait4) DO(pclose) DO(mtx_lock)             \
    DO(mtx_timedlock) DO(mtx_trylock) DO(mtx_unlock) DO(cnd_wait) DO(cnd_timedwait) DO(cnd_signal) DO(cnd_broadcast)   \
    DO(thrd_create) DO(thrd_join) DO(thrd_sleep) DO(call_once) DO(kill) DO(sigqueue) DO(pthread_kill)                  \
    DO(pthread_sigqueue) DO(semop) DO(semtimedop) DO(msgsnd) DO(msgrcv) DO(mq_send) DO(mq_timedsend) DO(mq_receive)    \
    DO(mq_timedreceive) DO(aio_suspend) DO(lio_listio) DO(fsync) DO(fdatasync) DO(syncfs) DO(msync) DO(lockf)          \
    DO(lockf64) DO(fcntl) DO(fcntl64) DO(pread) DO(pread64) DO(preadv) DO(preadv64) DO(preadv2) DO(preadv64v2)         \
    DO(recvmmsg) DO(eventfd_read) DO(eventfd_write) DO(sendmmsg) DO(sendfile) DO(sendfile64) DO(splice)
#define STREAMS_BEHIND(DO)                                                                                             \
    DO(fgets) DO(__fgets_chk) DO(getline) DO(getdelim) DO(__getdelim) DO(fread) DO(__fread_chk) DO(fgetc) DO(getc) DO(_IO_getc)       \
    DO(getchar) DO(fwrite) DO(fputs) DO(puts) DO(fputc) DO(putc) DO(_IO_putc) DO(putchar) DO(fflush) DO(flockfile)     \
    DO(ftrylockfile) DO(funlockfile)
#define MEMORY_BEHIND(DO)                                                                                              \
    DO(malloc) DO(calloc) DO(realloc) DO(free) DO(posix_memalign) DO(aligned_alloc) DO(memalign) DO(valloc)            \
    DO(pvalloc) DO(mmap) DO(munmap) DO(mremap)
#define SIGNALS_BEHIND(DO)                                                                                             \
    DO(sigaction) DO(signal) DO(ssignal) DO(sysv_signal) DO(__sysv_signal) DO(sigset) DO(sigignore)                    \
    DO(sighold) DO(sigrelse) DO(sigprocmask) DO(sigblock) DO(sigsetmask) DO(sigsuspend) DO(pthread_sigmask)            \
    DO(mprotect) DO(pthread_attr_setsigmask_np) DO(pthread_attr_getsigmask_np) DO(getcontext)         \
    DO(sigpending) DO(sigwait) DO(sigwaitinfo) DO(sigtimedwait) DO(signalfd)
#define ALL_BEHIND(DO)                                                                                                 \
    JUMPS_BEHIND(DO) PROCESS_BEHIND(DO) WAITS_BEHIND(DO) STREAMS_BEHIND(DO) MEMORY_BEHIND(DO) SIGNALS_BEHIND(DO)
// clang-format on

#define NUMBER(name) BEHIND_##name,
enum { ALL_BEHIND(NUMBER) BEHIND_COUNT };
#undef NUMBER

extern void *fathom_behind[BEHIND_COUNT] HIDDEN;
// The first definition of a name in any module, or in those behind this one. While the program starts, when no other
// thread loads anything. NULL: there is none.
HIDDEN void *fathom_first_definition(const char *name, int is_behind);
// What stands behind a function that is not in the table, or not yet. Leaves errno alone.
HIDDEN void *fathom_look_behind(uint32_t number);
// The same for a function of the unwinder, which `caller` has called.
HIDDEN void *fathom_unwinder_behind(uint32_t number, const void *caller);

static inline __attribute__((always_inline, no_instrument_function)) void *behind(uint32_t number) {
    // Relaxed: all threads find the same function, whose code was there before the word.
    void *function = __atomic_load_n(&fathom_behind[number], __ATOMIC_RELAXED);
    return __builtin_expect(function != NULL, 1) ? function : fathom_look_behind(number);
}

// What glibc's struct dl_find_object begins with.
struct object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *module;
    const void *frames;
    void *more[16];
};
typedef int find_object(void *, struct object *);

#define REAL(name) ((__typeof__(&(name)))behind(BEHIND_##name))
// Whether there is one. It is asked at functions that an older C library has in a library of its own.
#define HAS_REAL(name) (fathom_behind[BEHIND_##name] || fathom_has_behind(BEHIND_##name))
HIDDEN int fathom_has_behind(uint32_t number);

#endif
