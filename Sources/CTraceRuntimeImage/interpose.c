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
#include "masks.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

typedef int start_main(fathom_main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
start_main __libc_start_main;
typedef void jump(struct __jmp_buf_tag *, int);
jump __longjmp_chk;

// ---- longjmp: calls below the frame it lands in end without their exit hook

#define LONGJMP(name)                                                                                                  \
    EXPORT void name(struct __jmp_buf_tag *environment, int value) {                                                   \
        fathom_note_landing(fathom_jump_target(environment));                                                          \
        jump *real = (jump *)behind(BEHIND_##name);                                                                    \
        real(environment, value);                                                                                      \
        __builtin_unreachable();                                                                                       \
    }
LONGJMP(longjmp)
LONGJMP(_longjmp)
LONGJMP(siglongjmp)
LONGJMP(__longjmp_chk)

// ---- pthread_cleanup_push in C: glibc jumps to where a cleanup handler is called

#define CLEANUP(name, note) FATHOM_CLEANUP(name, "__pthread_" #name, behind(BEHIND___pthread_##name), note)
CLEANUP(register_cancel, FATHOM_CLEANUP_BEGINS)
CLEANUP(register_cancel_defer, FATHOM_CLEANUP_BEGINS)
CLEANUP(unregister_cancel, FATHOM_CLEANUP_ENDS)
CLEANUP(unregister_cancel_restore, FATHOM_CLEANUP_ENDS)
CLEANUP(unwind_next, FATHOM_CLEANUP_DONE)

// ---- Exceptions: the personality routine of the landing frame sets where it continues. clang calls no exit hooks for
// the frames that are passed.

#define UNWINDER(name) ((__typeof__(&(name)))fathom_unwinder_behind(BEHIND_##name, caller))
EXPORT void _Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr address) {
    const void *caller = __builtin_return_address(0);
    __typeof__(&_Unwind_GetCFA) get_cfa = UNWINDER(_Unwind_GetCFA);
    if (get_cfa) fathom_note_landing(get_cfa(context));
    JUMP UNWINDER(_Unwind_SetIP)(context, address);
}

// ---- What the runtime itself calls of others. glibc 2.34 gave the first two a new version. A library that asks for it
// by name starts in no program of an older system; this one finds what is there.

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    return REAL(pthread_key_create)(key, destructor);
}
int pthread_setspecific(pthread_key_t key, const void *value) { return REAL(pthread_setspecific)(key, value); }

// ---- ucontext: calls made on another stack are no callees of the function that switched to it

EXPORT int setcontext(const ucontext_t *to) {
    fathom_note_context(to);
    fathom_change_context(NULL, to);
    JUMP REAL(setcontext)(to);
}

EXPORT int swapcontext(ucontext_t *from, const ucontext_t *to) {
    fathom_note_context(to);
    fathom_change_context(from, to);
    JUMP REAL(swapcontext)(from, to);
}

// ---- Modules. dlopen searches on behalf of its caller, so it must see the real one: hence the jump. Before glibc 2.34
// there is none in a program without libdl, which may ask for it weakly and find ours: then nothing can be loaded.

// Where the function that this is expanded in keeps where it returns to, and where its caller's frame ends.
#define RETURN_SLOT ((uintptr_t *)__builtin_frame_address(0) + 1)
#if defined(__aarch64__) && defined(__clang__)
#define CALLERS_END ((uintptr_t)__builtin_sponentry())
#else
#define CALLERS_END ((uintptr_t)__builtin_dwarf_cfa())
#endif

EXPORT void *dlopen(const char *path, int mode) {
    if (!HAS_REAL(dlopen)) return NULL;
    fathom_note_jump(RETURN_SLOT, CALLERS_END);
    fathom_note_loading();
    JUMP REAL(dlopen)(path, mode);
}

EXPORT void *dlmopen(Lmid_t space, const char *path, int mode) {
    if (!HAS_REAL(dlmopen)) return NULL;
    fathom_note_jump(RETURN_SLOT, CALLERS_END);
    fathom_note_loading();
    JUMP REAL(dlmopen)(space, path, mode);
}

// What these find (RTLD_NEXT) depends on their caller, too, which may have gone on to them by a jump.

EXPORT void *dlsym(void *restrict handle, const char *restrict name) {
    if (!HAS_REAL(dlsym)) return NULL;
    fathom_note_jump(RETURN_SLOT, CALLERS_END);
    JUMP REAL(dlsym)(handle, name);
}

EXPORT void *dlvsym(void *restrict handle, const char *restrict name, const char *restrict version) {
    if (!HAS_REAL(dlvsym)) return NULL;
    fathom_note_jump(RETURN_SLOT, CALLERS_END);
    JUMP REAL(dlvsym)(handle, name, version);
}

EXPORT int dlclose(void *handle) {
    if (!HAS_REAL(dlclose)) return -1;
    fathom_note_modules();
    int result = REAL(dlclose)(handle);
    fathom_note_modules();
    return result;
}

// While the program goes through the list of modules, its lock is held.
EXPORT int dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *argument) {
    fathom_list_begins((uintptr_t)__builtin_frame_address(0));
    int result = REAL(dl_iterate_phdr)(look, argument);
    fathom_list_ends();
    return result;
}

// Unwinders ask for the module of an address (glibc 2.35). Code that was moved is in none, and says that it is in this
// library.
EXPORT int fathom_find_object(void *address, struct object *object) __asm__("_dl_find_object");
EXPORT int fathom_find_object(void *address, struct object *object) {
    find_object *real = (find_object *)behind(BEHIND__dl_find_object);
    uintptr_t low, high;
    const void *frames = fathom_frames_at((uintptr_t)address, &low, &high);
    if (!frames) return real(address, object);
    int result = real((void *)fathom_frames_at, object);
    object->start = (void *)low, object->end = (void *)high, object->frames = frames;
    return result;
}

// ---- The program's main function, which the C library calls

EXPORT int __libc_start_main(fathom_main_function *main, int count, char **arguments, void (*begin)(void),
                             void (*end)(void), void (*linker_end)(void), void *stack_end) {
    JUMP REAL(__libc_start_main)(fathom_note_main(main), count, arguments, begin, end, linker_end, stack_end);
}

// ---- Ends without exit handlers

EXPORT void _exit(int status) {
    fathom_note_exit();
    REAL(_exit)(status);
    __builtin_unreachable();
}

EXPORT void _Exit(int status) {
    fathom_note_exit();
    REAL(_Exit)(status);
    __builtin_unreachable();
}

// ---- Other programs

#define FATHOM_NEW(name) name
#define FATHOM_REAL(name) REAL(name)
// The child's end is waited for.
#define FATHOM_SYSTEM(command)                                                                                         \
    if (IS_ASKED_FOR) {                                                                                                \
        int result;                                                                                                    \
        WAIT(result, system, FATHOM_WAIT_CHILD, 0, 0, (command));                                                      \
        return result;                                                                                                 \
    }
#include "CTraceRuntimeExec.h"

// ---- Confinement: after it, the runtime's own system calls, or its reading of the counter, would end the program

// A system call that may wait goes by waits_syscalls.c on its way.
FATHOM_CONFINE("prctl", (fathom_prctl_function *)behind(BEHIND_prctl), "syscall",
               __builtin_expect(fathom_waiting.on, 0) && fathom_syscall_waits(number)
                   ? fathom_syscall_that_waits
                   : (fathom_syscall_function *)behind(BEHIND_syscall))

// ---- vfork

FATHOM_VFORK("vfork");

FATHOM_WITHOUT_HOOKS_END
