// The runtime that lives in a traced process, as it shows itself to the code that links it into libfathom.so and
// libfathom.a. Programs need none of this, because the compiler's hooks find the runtime by their names.

#ifndef CTRACERUNTIME_H
#define CTRACERUNTIME_H

#include "CTraceRuntimeHost.h"

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
// A C function is about to register `buffer`, a __pthread_unwind_buf_t, and to go on at `return_address`.
void fathom_note_cleanup(void *buffer, uintptr_t return_address);
void fathom_note_cleanup_end(const void *buffer);   // it is about to take `buffer` back
void fathom_note_cleanup_done(const void *buffer);  // it has called the handler, and lets the thread's end go on
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
// A block has been allocated, or is about to be freed: `record` is FATHOM_ALLOCATED or another one of memory. `ticks`
// is when, or 0 for now. errno stays as it is.
void fathom_note_block(uint32_t record, const void *address, size_t size, uint64_t ticks);
uint64_t fathom_moment(void);  // in ticks, for the above
// Whoever attaches to a process that was started without the runtime loads it and calls these, on one of the process's
// threads (Sources/TraceAttach).
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
// The stubs by which calls of library functions are recorded.
extern const char fathom_library_stubs[] __attribute__((visibility("hidden")));
// Where a call goes on that a slot leads to `address`: behind a stub, to the function. Async-signal-safe.
void *fathom_stub_target(void *address) __attribute__((visibility("hidden")));
// A function that looks at its caller was called, and its return address lies in `slot`; its caller's frame ends at
// `frame`. If that is a return place, because a call with a detour goes on by a jump there, that call ends, and the
// slot has the caller's address again.
void fathom_note_jump(uintptr_t *slot, uintptr_t frame);
// What tells unwinders of code that was moved to an address, which is in no module, and where that code begins and
// ends. NULL: there is none. Async-signal-safe.
const void *fathom_frames_at(uintptr_t address, uintptr_t *low, uintptr_t *high);
// What detours lead to, and what hooks ask of functions whose results are recorded (struct fathom_image).
void fathom_detour_entry(void) __attribute__((visibility("hidden")));
uintptr_t fathom_hook_enters(uintptr_t function, uintptr_t call_site) __attribute__((visibility("hidden")));
int fathom_hook_exits(uintptr_t function, uintptr_t call_site) __attribute__((visibility("hidden")));
// The program is about to change what is at these addresses.
void fathom_note_memory(const void *start, size_t size);
// The stack pointer that a setjmp buffer holds; 0 if that cannot be told.
uintptr_t fathom_jump_target(const void *environment);

#endif
