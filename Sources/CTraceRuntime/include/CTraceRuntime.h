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

// A module that `fathom build --dormant` has built calls this before its other constructors.
__attribute__((visibility("default"))) void fathom_note_sleds(void);

// Opens and closes all sleds of this process that is recorded, while its threads run. 0 when some could not be changed.
// Calls that are open when sleds are closed end there, in the recording.
__attribute__((visibility("default"))) int fathom_open_sleds(void);
__attribute__((visibility("default"))) int fathom_close_sleds(void);

// What `fathom build` calls before __builtin_longjmp, with the buffer that __builtin_setjmp has filled.
__attribute__((visibility("default"))) void fathom_note_builtin_jump(void *const *buffer);

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
// Whether threads have memory of their own. A static program calls functions, which may have hooks, to choose others
// (IFUNC) before that is so; it has a definition of its own, 0, which its first initialiser changes.
extern uint32_t fathom_threads_have_memory __attribute__((visibility("hidden")));
// The process's image has begun: what the library's constructor tells, which the first of a static program's
// initialisers may tell before.
void fathom_note_start(int count, char **arguments, char **environment);
// A static program's initialisers, which nothing but the linker's symbols tells of. To be noted before the start is.
void fathom_note_initializers(uintptr_t *first, uintptr_t *end, char **environment);
// The program's main function is about to be called. Returns what is to be called in its place, which calls it.
typedef int fathom_main_function(int, char **, char **);
fathom_main_function *fathom_note_main(fathom_main_function *main);
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
    // How many threads wait for each object; objects share places by a hash of their addresses. Where nobody waits,
    // what would end a wait is not told of. A thread that leaves a wait by a jump or by being cancelled stays
    // counted, so that more is told of than need be. The bit FATHOM_CONTENDED says whether anybody has ever waited
    // for a lock in this place. Only from then on is it noted how long such a lock is held, because other locks are
    // to cost nothing.
    uint32_t waiters[FATHOM_WAITERS];
} fathom_waiting __attribute__((visibility("hidden")));
#define FATHOM_CONTENDED 0x80000000u
static inline __attribute__((always_inline, no_instrument_function)) uint32_t *fathom_waiters_of(uint64_t object) {
    return &fathom_waiting.waiters[object * 0x9e3779b97f4a7c15ull >> 54];
}
// What goes through a descriptor: a thread waits for what comes in, or for room for what goes out.
#define FATHOM_FLOW_NONE 0u
#define FATHOM_FLOW_DATA 1u
#define FATHOM_FLOW_ROOM 2u
// One wait that is going on, on its thread's stack.
struct fathom_wait_begin {
    uint64_t ticks;         // when it began; 0: it is not told of
    uint64_t processor_ns;  // the thread's processor time then, if that is asked for
    uint32_t flows;         // FATHOM_FLOW_*, or both: what it is counted for
    uint32_t is_counted;    // it is counted for its object, too
};
// What a call has waited for.
struct fathom_waited {
    uint32_t kind;       // FATHOM_WAIT_*
    int32_t descriptor;  // which; -1: none, or several
    uint64_t object;     // 0: that of `flow`, through the descriptor `ready`
    int32_t ready;
    uint32_t flow;   // FATHOM_FLOW_*
    uint64_t least;  // in ns: a shorter wait is not told of
};
// Where a call is made: `function`, called at `call_site` by a function with this stack pointer.
struct fathom_place {
    uintptr_t function, call_site, stack_pointer;
};
// A call is about to wait for `object`, or for something to come through descriptors. The thread's open calls stay as
// they are until the wait is over: whoever leaves it by a jump, or is cancelled in it, leaves nothing behind.
struct fathom_wait_begin fathom_wait_begins(uint32_t kind, uint64_t object, uint32_t flows);
// A call is about to be made that need not wait, as far as can be seen. If it takes long, it has waited all the same.
struct fathom_wait_begin fathom_wait_may_begin(void);
// The wait is over, and becomes a call. errno stays as it is.
void fathom_wait_ends(struct fathom_wait_begin begin, struct fathom_waited waited, struct fathom_place place);
// A thread was made, whose pthread_t is at `thread`, which may be gone already.
void fathom_creation_ends(struct fathom_wait_begin begin, const void *thread, struct fathom_place place);
// The thread is about to end a wait for `object`, if anybody waits for it.
void fathom_note_wake(uint32_t kind, uint64_t object);
// The thread has taken a lock that others have waited for, or is about to give it back.
void fathom_note_taken(uint64_t lock);
void fathom_note_release(uint32_t kind, uint64_t lock);
// The thread is about to write, or to read.
void fathom_note_data(int descriptor);
void fathom_note_room(int descriptor);
// Or to end a wait for a file behind a descriptor, its lock or what is in it; or for what the kernel has a number for.
void fathom_note_file(uint32_t kind, int descriptor);
void fathom_note_number(uint32_t kind, uint64_t number);
// The process, as the kernel numbers it.
uint32_t fathom_own_process(void);
// It is about to connect or send to an address, or to send a message, which is a struct msghdr. Neither need be there.
void fathom_note_data_to(int descriptor, const void *address, uint32_t size);
void fathom_note_message(int descriptor, const void *message);
// Whether the program's memory can be read. Another thread may change that at any time.
int fathom_can_read(const void *memory, size_t size);
// Two sockets are connected with each other.
void fathom_note_socket_pair(const int *ends);
// Memory is allocated and freed. The functions that stand before those of the C library tell of it when this is not 0,
// which it is from the first hook on in a session that asks for it.
extern uint32_t fathom_memory_on __attribute__((visibility("hidden")));
// Whether those functions are what the program calls: not where it has functions of its own by these names, and not in
// a static program.
int fathom_memory_is_seen(void);
// Look at a module, as dl_iterate_phdr calls them: whether it is that of an allocator; and make the operators seen that
// it calls there. The first one comes first. Neither is there in a static program.
struct dl_phdr_info;
int fathom_find_allocator(struct dl_phdr_info *module, size_t size, void *result);
int fathom_see_operators(struct dl_phdr_info *module, size_t size, void *result);
// Changes a word of a module, which may be read-only.
void fathom_write_word(struct dl_phdr_info *module, uintptr_t *place, uintptr_t word);
// A block has been allocated, or is about to be freed: `record` is FATHOM_ALLOCATED or another one of memory. `ticks`
// is when, or 0 for now. errno stays as it is.
void fathom_note_block(uint32_t record, const void *address, size_t size, uint64_t ticks);
uint64_t fathom_moment(void);  // in ticks, for the above
// Whoever attaches to a process that was started without the runtime loads it and calls these, on one of the process's
// threads (Sources/TraceAttach).
#define FATHOM_ATTACH_DONE 0
#define FATHOM_ATTACH_IS_RECORDED 1
#define FATHOM_ATTACH_CANNOT_OPEN 2  // the session's buffers
// Joins the recording of a session, of which this is the directory. No call reaches the runtime yet.
int fathom_attach(const char *session);
// Looks at the modules once more. Other threads run.
void fathom_detach_soon(void);
// Leaves it. All other threads are stopped, and calls reach the runtime no more. 1 when that has to be tried again
// later, because a thread is in the midst of something here; `thread_pointers` has all threads'.
int fathom_detach(const uintptr_t *thread_pointers, size_t count);
// Traps at the entries of functions, where first calls are recorded. From the moment that `on` is set, the runtime has
// the signal SIGTRAP for itself, and what the program says of it is kept here; see entry/traps.c.
struct fathom_trap_action {
    void *handler;   // as sa_handler or sa_sigaction
    uint64_t mask;   // the signals that are blocked in it, from bit 0 for signal 1
    uint32_t flags;  // SA_*
};
#define FATHOM_TRAPS_ON 1u
#define FATHOM_TRAPS_GIVEN_UP 2u  // there are none any more, and masks are the kernel's again
extern struct fathom_traps {
    uint32_t on;  // FATHOM_TRAPS_*; 0: there never were any
    struct fathom_trap_action action;
} fathom_traps __attribute__((visibility("hidden")));
// Whether the thread would have SIGTRAP blocked, if it is not truly blocked, and whether somebody has sent it one
// meanwhile.
extern __thread struct fathom_trap_block {
    uint8_t is_blocked, is_pending;
} fathom_trap_block __attribute__((tls_model("initial-exec"), visibility("hidden")));
// Begins to record first calls, if that is asked for. Called when the image has looked up the functions behind its own.
void fathom_traps_begin(void);
// The thread has SIGTRAP blocked from here on, or not any more, as the program sees it.
void fathom_trap_blocked(int is_blocked);
// The program asks for signals that are blocked and sent, SIGTRAP among them.
void fathom_traps_ask(void);
// A program is about to be started, which inherits what is blocked, or could not be.
void fathom_traps_pass_on(void);
void fathom_traps_passed_on(void);
// The program is about to change what is at these addresses.
void fathom_note_memory(const void *start, size_t size);
// A value of the auxiliary vector (AT_*); 0 where it has none. Works before the runtime is relocated.
unsigned long fathom_auxiliary(unsigned long type);
// The program calls dl_iterate_phdr, from a function with this stack pointer; and it has returned.
void fathom_list_begins(uintptr_t stack_pointer);
void fathom_list_ends(void);
// dl_iterate_phdr as it stands behind the runtime's own, or as the C library has it in a static program.
struct dl_phdr_info;
int fathom_all_modules(int (*look)(struct dl_phdr_info *, size_t, void *), void *result);
// The stack pointer that a setjmp buffer holds; 0 if that cannot be told.
uintptr_t fathom_jump_target(const void *environment);

#endif
