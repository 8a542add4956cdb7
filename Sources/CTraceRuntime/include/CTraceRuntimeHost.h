// What the code that links the runtime into libfathom.so and libfathom.a has of the lowest room, `host`, and what that
// needs of it. The rest, which is of the room `entry`, is in CTraceRuntime.h.

#ifndef CTRACERUNTIMEHOST_H
#define CTRACERUNTIMEHOST_H

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

// What the image does for the runtime in it. libfathom.so and libfathom.a each have such a table, which the linker
// finds, so it is there before anything is called.
struct dl_phdr_info;
typedef int fathom_look(struct dl_phdr_info *, size_t, void *);
extern struct fathom_image {
    // Whether threads have memory of their own. A static program calls functions, which may have hooks, to choose
    // others (IFUNC) before that is so; there its first initialiser sets this.
    uint32_t threads_have_memory;
    // dl_iterate_phdr as it stands behind the runtime's own, or as the C library has it in a static program.
    int (*all_modules)(fathom_look *look, void *result);
    // The following are NULL in a static program. Whether the functions that tell of memory are what the program calls:
    // not where it has functions of its own by these names.
    int (*memory_is_seen)(void);
    // Look at a module: whether it is that of an allocator; and make the operators seen that it calls there. The first
    // one comes first.
    fathom_look *find_allocator, *see_operators;
    // The image has started, and begins what only the library can do.
    void (*started)(void);
    // The pool of stubs of library calls; NULL: it has none.
    const char *library_stubs;
    // What detours lead to (session/detours.h), and what hooks of functions with results ask (entry/place_calls.h).
    void (*detour_entry)(void);
    uintptr_t (*hook_enters)(uintptr_t function, uintptr_t call_site);
    int (*hook_exits)(uintptr_t function, uintptr_t call_site);
    // The C library's word, which is not 0 as long as the process has one thread; NULL: it has none.
    const char *is_alone;
} fathom_image __attribute__((visibility("hidden")));

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
// Memory is allocated and freed. The functions that stand before those of the C library tell of it when this is not 0,
// which it is from the first hook on in a session that asks for it.
extern uint32_t fathom_memory_on __attribute__((visibility("hidden")));
// Changes a word of a module, which may be read-only.
void fathom_write_word(struct dl_phdr_info *module, uintptr_t *place, uintptr_t word);
// A value of the auxiliary vector (AT_*); 0 where it has none. Works before the runtime is relocated.
unsigned long fathom_auxiliary(unsigned long type);
// The program calls dl_iterate_phdr, from a function with this stack pointer; and it has returned.
void fathom_list_begins(uintptr_t stack_pointer);
void fathom_list_ends(void);

#endif
