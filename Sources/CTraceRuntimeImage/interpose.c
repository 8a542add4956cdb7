// What only a shared library can do: stand before functions of the C library and the unwinder, tell the runtime what
// they are about to do, and go on to them. Where it matters to the real function who called it or where it returns to,
// this goes on by a jump, not by a call.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "CTraceRuntime.h"
#include "CTraceRuntimeCleanup.h"
#include "CTraceRuntimeConfine.h"
#include "CTraceRuntimeVfork.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

// The definition behind ours. It is looked up once: the C library's from this library's constructor, and the unwinder's
// at its first call, because many programs have no unwinder and a search in vain would show in dlerror. The words are
// relaxed, here and below: all threads find the same function, whose code was there before the word, and who finds none
// looks it up itself.
#define NEXT(name) ((__typeof__(&(name)))next(&next_##name, #name))
#define DECLARE_NEXT(name) static void *next_##name

static void *next(void **cache, const char *name) {
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    }
    return found;
}

typedef int start_main(fathom_main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
start_main __libc_start_main;
typedef void jump(struct __jmp_buf_tag *, int);
jump __longjmp_chk;
DECLARE_NEXT(longjmp);
DECLARE_NEXT(_longjmp);
DECLARE_NEXT(siglongjmp);
DECLARE_NEXT(__longjmp_chk);
DECLARE_NEXT(setcontext);
DECLARE_NEXT(swapcontext);
DECLARE_NEXT(__libc_start_main);
DECLARE_NEXT(dlopen);
DECLARE_NEXT(dlmopen);
DECLARE_NEXT(dlclose);
DECLARE_NEXT(execve);
DECLARE_NEXT(execvpe);
DECLARE_NEXT(fexecve);
DECLARE_NEXT(execveat);
DECLARE_NEXT(posix_spawn);
DECLARE_NEXT(posix_spawnp);
DECLARE_NEXT(system);
DECLARE_NEXT(popen);
DECLARE_NEXT(prctl);
DECLARE_NEXT(syscall);
DECLARE_NEXT(_exit);
DECLARE_NEXT(_Exit);
DECLARE_NEXT(_Unwind_SetIP);
DECLARE_NEXT(_Unwind_GetCFA);

__attribute__((constructor)) static void look_up(void) {
    (void)NEXT(longjmp), (void)NEXT(_longjmp), (void)NEXT(siglongjmp), (void)NEXT(__longjmp_chk);
    (void)NEXT(setcontext), (void)NEXT(swapcontext), (void)NEXT(dlopen), (void)NEXT(dlmopen), (void)NEXT(dlclose);
    (void)NEXT(_exit), (void)NEXT(_Exit);
    (void)NEXT(execve), (void)NEXT(execvpe), (void)NEXT(fexecve), (void)NEXT(execveat);
    (void)NEXT(posix_spawn), (void)NEXT(posix_spawnp), (void)NEXT(system), (void)NEXT(popen);
    (void)next(&next_prctl, "prctl"), (void)next(&next_syscall, "syscall");
}

// ---- longjmp: calls below the frame it lands in end without their exit hook

#define LONGJMP(name)                                                                                                  \
    EXPORT void name(struct __jmp_buf_tag *environment, int value) {                                                   \
        fathom_note_landing(fathom_jump_target(environment));                                                          \
        jump *real = (jump *)next(&next_##name, #name);                                                                \
        real(environment, value);                                                                                      \
        __builtin_unreachable();                                                                                       \
    }
LONGJMP(longjmp)
LONGJMP(_longjmp)
LONGJMP(siglongjmp)
LONGJMP(__longjmp_chk)

// ---- pthread_cleanup_push in C: glibc jumps to where a cleanup handler is called

#define CLEANUP(name, note)                                                                                            \
    DECLARE_NEXT(name);                                                                                                \
    FATHOM_CLEANUP(name, "__pthread_" #name, next(&next_##name, "__pthread_" #name), note)
CLEANUP(register_cancel, FATHOM_CLEANUP_BEGINS)
CLEANUP(register_cancel_defer, FATHOM_CLEANUP_BEGINS)
CLEANUP(unregister_cancel, FATHOM_CLEANUP_ENDS)
CLEANUP(unregister_cancel_restore, FATHOM_CLEANUP_ENDS)
CLEANUP(unwind_next, FATHOM_CLEANUP_DONE)

// ---- Exceptions: the personality routine of the landing frame sets where it continues. clang calls no exit hooks for
// the frames that are passed.

// Perhaps only its user can reach the unwinder: libstdc++ can be loaded with RTLD_LOCAL.
static void *unwinder(void **cache, const char *name) {
    void *found = next(cache, name);
    const char *const libraries[] = {"libgcc_s.so.1", "libunwind.so.1"};
    __typeof__(&dlopen) real_dlopen = NEXT(dlopen);
    for (int i = 0; !found && real_dlopen && i < 2; i++) {
        void *library = real_dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library) found = dlsym(library, name);
        __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    }
    return found;
}

EXPORT void _Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr address) {
    __typeof__(&_Unwind_GetCFA) get_cfa = (__typeof__(&_Unwind_GetCFA))unwinder(&next__Unwind_GetCFA, "_Unwind_GetCFA");
    if (get_cfa) fathom_note_landing(get_cfa(context));
    __typeof__(&_Unwind_SetIP) real = (__typeof__(&_Unwind_SetIP))unwinder(&next__Unwind_SetIP, "_Unwind_SetIP");
    JUMP real(context, address);
}

// ---- ucontext: calls made on another stack are no callees of the function that switched to it

EXPORT int setcontext(const ucontext_t *to) {
    fathom_note_context(to);
    JUMP NEXT(setcontext)(to);
}

EXPORT int swapcontext(ucontext_t *from, const ucontext_t *to) {
    fathom_note_context(to);
    JUMP NEXT(swapcontext)(from, to);
}

// ---- Modules. dlopen searches on behalf of its caller, so it must see the real one: hence the jump. Before glibc 2.34
// there is none in a program without libdl, which may ask for it weakly and find ours: then nothing can be loaded.

EXPORT void *dlopen(const char *path, int mode) {
    if (!NEXT(dlopen)) return NULL;
    fathom_note_loading();
    JUMP NEXT(dlopen)(path, mode);
}

EXPORT void *dlmopen(Lmid_t space, const char *path, int mode) {
    if (!NEXT(dlmopen)) return NULL;
    fathom_note_loading();
    JUMP NEXT(dlmopen)(space, path, mode);
}

EXPORT int dlclose(void *handle) {
    if (!NEXT(dlclose)) return -1;
    fathom_note_modules();
    int result = NEXT(dlclose)(handle);
    fathom_note_modules();
    return result;
}

// ---- The program's main function, which the C library calls

EXPORT int __libc_start_main(fathom_main_function *main, int count, char **arguments, void (*begin)(void),
                             void (*end)(void), void (*linker_end)(void), void *stack_end) {
    JUMP NEXT(__libc_start_main)(fathom_note_main(main), count, arguments, begin, end, linker_end, stack_end);
}

// ---- Ends without exit handlers

EXPORT void _exit(int status) {
    fathom_note_exit();
    NEXT(_exit)(status);
    __builtin_unreachable();
}

EXPORT void _Exit(int status) {
    fathom_note_exit();
    NEXT(_Exit)(status);
    __builtin_unreachable();
}

// ---- Other programs

#define FATHOM_NEW(name) name
#define FATHOM_REAL(name) NEXT(name)
#include "CTraceRuntimeExec.h"

// ---- Confinement: after it, the runtime's own system calls, or its reading of the counter, would end the program

// A futex that somebody waits for goes by waits.c on its way.
FATHOM_CONFINE("prctl", (fathom_prctl_function *)next(&next_prctl, "prctl"), "syscall",
               number == SYS_futex && fathom_waiting.on ? fathom_futex
                                                        : (fathom_syscall_function *)next(&next_syscall, "syscall"))

// ---- vfork

FATHOM_VFORK("vfork");

FATHOM_WITHOUT_HOOKS_END
