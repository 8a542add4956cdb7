// What a static link can do in place of interposition. With the linker's --wrap=NAME, calls of NAME come to
// __wrap_NAME, and __real_NAME is the C library's. This is only for libfathom.a; Tools/link-runtime writes the options
// beside it.

#define _GNU_SOURCE
#include <link.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdio.h>
#include <ucontext.h>
#include <unwind.h>

#include "CTraceRuntime.h"
#include "CTraceRuntimeConfine.h"
#include "CTraceRuntimeVfork.h"

FATHOM_WITHOUT_HOOKS

#define LONGJMP(name)                                                                                                  \
    void __real_##name(struct __jmp_buf_tag *, int) __attribute__((noreturn));                                         \
    void __wrap_##name(struct __jmp_buf_tag *environment, int value) {                                                 \
        fathom_note_landing(fathom_jump_target(environment));                                                          \
        __real_##name(environment, value);                                                                             \
    }
LONGJMP(longjmp)
LONGJMP(_longjmp)
LONGJMP(siglongjmp)

void __real__Unwind_SetIP(struct _Unwind_Context *, _Unwind_Ptr);
void __wrap__Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr address) {
    fathom_note_landing(_Unwind_GetCFA(context));
    __real__Unwind_SetIP(context, address);
}

int __real_setcontext(const ucontext_t *);
int __wrap_setcontext(const ucontext_t *to) {
    fathom_note_context(to);
    return __real_setcontext(to);
}

int __real_swapcontext(ucontext_t *, const ucontext_t *);
int __wrap_swapcontext(ucontext_t *from, const ucontext_t *to) {
    fathom_note_context(to);
    __attribute__((musttail)) return __real_swapcontext(from, to);
}

typedef int start_main(fathom_main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
start_main __real___libc_start_main;
int __wrap___libc_start_main(fathom_main_function *main, int count, char **arguments, void (*begin)(void),
                             void (*end)(void), void (*linker_end)(void), void *stack_end) {
    __attribute__((musttail)) return __real___libc_start_main(fathom_note_main(main), count, arguments, begin, end,
                                                              linker_end, stack_end);
}

// The linker's symbols. A static program has no dynamic section that would tell of them, unless it is
// position-independent.
extern uintptr_t __init_array_start[] __attribute__((weak, visibility("hidden")));
extern uintptr_t __init_array_end[] __attribute__((weak, visibility("hidden")));

struct fathom_image fathom_image = {.all_modules = dl_iterate_phdr};
static void first(int count, char **arguments, char **environment) {
    fathom_image.threads_have_memory = 1;
    fathom_note_initializers(__init_array_start, __init_array_end, environment);
    fathom_note_start(count, arguments, environment);
}
__attribute__((section(".preinit_array"), used)) static void (*const first_initializer)(int, char **, char **) = first;

void __real__exit(int) __attribute__((noreturn));
void __wrap__exit(int status) {
    fathom_note_exit();
    __real__exit(status);
}

fathom_prctl_function real_prctl __asm__("__real_prctl");
fathom_syscall_function real_syscall __asm__("__real_syscall");
FATHOM_CONFINE("__wrap_prctl", real_prctl, "__wrap_syscall", real_syscall)

#define FATHOM_NEW(name) __wrap_##name
#define FATHOM_REAL(name) __real_##name
int __real_execve(const char *, char *const *, char *const *);
int __real_execvpe(const char *, char *const *, char *const *);
int __real_fexecve(int, char *const *, char *const *);
int __real_execveat(int, const char *, char *const *, char *const *, int);
int __real_posix_spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const *, char *const *);
int __real_posix_spawnp(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                        char *const *, char *const *);
int __real_system(const char *);
FILE *__real_popen(const char *, const char *);
#include "CTraceRuntimeExec.h"

FATHOM_VFORK("__wrap_vfork");

FATHOM_WITHOUT_HOOKS_END
