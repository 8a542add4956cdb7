// The runtime that lives in a traced process, as it shows itself to the code that links it into libfathom.so and
// libfathom.a. Programs need none of this, because the compiler's hooks find the runtime by their names.

#ifndef CTRACERUNTIME_H
#define CTRACERUNTIME_H

#include <stddef.h>
#include <stdint.h>

// Stands around all that is defined in a file of the runtime, so that it has no hooks even where everything is built
// with them. For gcc an option does that, -fno-instrument-functions, which clang does not have.
#if defined(__clang__)
#define FATHOM_WITHOUT_HOOKS                                                                                           \
    _Pragma("clang attribute push(__attribute__((no_instrument_function)), apply_to = function)")
#define FATHOM_WITHOUT_HOOKS_END _Pragma("clang attribute pop")
#else
#define FATHOM_WITHOUT_HOOKS
#define FATHOM_WITHOUT_HOOKS_END
#endif

// Called by -finstrument-functions at every enter and exit. Async-signal-safe.
void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

// The notes below tell the runtime about control flow that no hook reports. All are async-signal-safe and never fail.
// They do nothing in a thread that has recorded nothing.

// Control is about to land in a frame of this thread whose stack pointer is `stack_pointer`. Calls in frames below it
// end without their exit hooks.
void fathom_note_landing(uintptr_t stack_pointer);
// Control is about to move to `context`, a ucontext_t: another stack, or another frame of this one.
void fathom_note_context(const void *context);
// The module list may change from here on, so it is to be looked at again at this thread's next hook.
void fathom_note_loading(void);
// The module list may have changed, or is about to lose a module, so it is looked at now.
void fathom_note_modules(void);
// Swift's concurrency library is there. `current` is its swift_task_getCurrent. `run` is the function that runs jobs,
// or NULL when the product does not contain the library. This is called from the product that uses it.
void fathom_swift_tasks(void *(*current)(void), void *run);
void fathom_note_exit(void);         // the process image is about to end by _exit
void fathom_note_exec(void);         // it is about to end by exec, if that succeeds
void fathom_note_failed_exec(void);  // the exec has failed
// The process is about to call prctl, or syscall, with these arguments. Returns whether that may forbid it to make
// system calls or to read the counter, without which recording would end it. If so, nothing is recorded until
// fathom_note_confined has the result.
int fathom_note_prctl(int option, unsigned long a, unsigned long b);
int fathom_note_system_call(long number, long a, long b, long c);
void fathom_note_confined(long result);
// Why a program that is about to be started cannot be recorded, FATHOM_MISSED_*; 0 when it can be, or when that is not
// known. With `is_searched`, `file` is looked for in PATH, unless there is a slash in it. Async-signal-safe, like the
// next two.
uint32_t fathom_missed_reason(const char *file, int is_searched);
// Notes that such a program is started in process `pid`, where 0 stands for this one. NULL when there is no room.
struct fathom_missed;
struct fathom_missed *fathom_note_missed(const char *file, int is_searched, uint32_t reason, uint32_t pid);
void fathom_take_back_missed(struct fathom_missed *note);  // because it could not be started
// What a program needs in its environment to be recorded. Returns how many bytes an environment takes that has this
// beside what is in `environment` (NULL for none); 0 when `environment` can be passed as it is. A program made for
// another C library, for which `reason` is FATHOM_MISSED_FOREIGN, must not have the runtime preloaded, because its
// loader would end it.
size_t fathom_environment_room(char *const *environment, uint32_t reason);
// Makes that environment in `room`, which is aligned for pointers. What it points to is partly in `environment`.
// Async-signal-safe.
char *const *fathom_environment(char *const *environment, uint32_t reason, void *room);
// The same for a shell that is started with `environment`: a command that begins by exporting what is needed, and its
// size.
size_t fathom_command_room(char *const *environment, const char *command);
const char *fathom_command(char *const *environment, const char *command, void *room);
// A C function is about to register `buffer`, a __pthread_unwind_buf_t, and to go on at `return_address`.
void fathom_note_cleanup(void *buffer, uintptr_t return_address);
void fathom_note_cleanup_end(const void *buffer);   // it is about to take `buffer` back
void fathom_note_cleanup_done(const void *buffer);  // it has called the handler, and lets the thread's end go on
// Calls that wait, and what ends waits. The functions that stand before those of the C library tell of these when
// `on` is not 0, which it is from the first hook on in a session that asks for it.
#define FATHOM_WAITERS 1024u
extern struct fathom_waiting {
    uint32_t on;
    uint32_t descriptors;  // how many threads wait for descriptors
    // By a hash of what is waited for: how many threads wait. What ends nobody's wait is not told of. A thread that
    // leaves a wait by a jump or by being cancelled stays counted, so that more is told of than need be.
    uint32_t waiters[FATHOM_WAITERS];
} fathom_waiting __attribute__((visibility("hidden")));
// One wait that is going on, on its thread's stack.
struct fathom_wait_begin {
    uint64_t ticks;         // when it began; 0: it is not told of
    uint64_t processor_ns;  // the thread's processor time then, if that is asked for
};
static inline __attribute__((always_inline, no_instrument_function)) uint32_t *fathom_waiters_of(uint64_t object) {
    return &fathom_waiting.waiters[object * 0x9e3779b97f4a7c15ull >> 54];
}
// A call is about to wait for `object`. The thread's open calls stay as they are until the wait is over: whoever leaves
// it by a jump, or is cancelled in it, leaves nothing behind.
struct fathom_wait_begin fathom_wait_begins(uint32_t kind, uint64_t object);
// The wait is over, and becomes a call of `function`, made at `call_site`, if it took `least` ns. `stack_pointer` is
// that of the function that made it. errno stays as it is.
void fathom_wait_ends(struct fathom_wait_begin begin, uint32_t kind, uint64_t object, int descriptor, uint64_t least,
                      uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
// The thread is about to end a wait for `object`, if anybody waits for it.
void fathom_note_wake(uint32_t kind, uint64_t object);
void fathom_note_wake_descriptor(int descriptor);
// The stack pointer that a setjmp buffer holds; 0 if that cannot be told.
uintptr_t fathom_jump_target(const void *environment);

#endif
