// A program controls its recording by these functions. They are for C and C++, gcc and clang, and any system.
//
// The header is all that is needed: nothing is linked. Under `fathom record`, the functions call the runtime. Without
// the runtime, and on systems that Fathom does not know, each of them is one branch that is not taken. Any thread and
// any signal handler may call them. They leave errno alone and never fail.
//
//     FATHOM_SCOPE("parse");              // until the block ends, a call named parse
//     fathom_mark("first frame");
//     fathom_set_counter("queued", n);
//
// Names are UTF-8 and copied; their first 255 bytes count. A process can give 4096 different names, or fewer if they
// are long, because all of them share 256 KB. All further ones become "(more names)". Give fixed names, not one for
// each item.

#ifndef FATHOM_H
#define FATHOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the runtime offers. Only the functions below use it; later versions may append to it.
struct fathom_api {
    uint32_t size;  // of this structure in bytes
    void (*start)(void);
    void (*start_with)(uint32_t max_depth, uint64_t min_cost);
    void (*stop)(void);
    void (*save)(void);
    void (*mark)(const char *name);
    void (*set_counter)(const char *name, double value);
    void (*begin)(const char *name);
    void (*end)(void);
    void (*name_thread)(const char *name);
};

#define FATHOM_INLINE static inline __attribute__((always_inline, no_instrument_function, unused))

// The runtime's table, or NULL without the runtime. Assembly makes it a weak reference through the global offset table,
// which the dynamic linker fills in. A weak reference in C would be settled for good by the static linker in a program
// that is not position-independent.
FATHOM_INLINE const struct fathom_api *fathom_find_api(void) {
    const struct fathom_api *api;
#if defined(__ELF__) && defined(__linux__) && defined(__x86_64__) && defined(__LP64__)
    __asm__(".weak fathom_api_1\n\tmovq fathom_api_1@GOTPCREL(%%rip), %0" : "=r"(api));
#elif defined(__ELF__) && defined(__linux__) && defined(__aarch64__) && defined(__LP64__)
    __asm__(".weak fathom_api_1\n\tadrp %0, :got:fathom_api_1\n\tldr %0, [%0, :got_lo12:fathom_api_1]" : "=r"(api));
#else
    api = (const struct fathom_api *)0;
#endif
    return api;
}

#define FATHOM_CALL(function, ...)                                                                                     \
    do {                                                                                                               \
        const struct fathom_api *fathom_found = fathom_find_api();                                                     \
        if (__builtin_expect(fathom_found != (const struct fathom_api *)0, 0)) fathom_found->function(__VA_ARGS__);    \
    } while (0)

#define FATHOM_ANY_DEPTH UINT32_MAX

// Starts recording the calls of this process, with the limits of the last start; the first start has the limits of
// `fathom record`. Calls that are open already are shown as inherited: their time begins here.
FATHOM_INLINE void fathom_start(void) { FATHOM_CALL(start); }

// Starts recording, but leaves out calls deeper than `max_depth` (roots are depth 0), and calls that take less than
// `min_cost` nanoseconds, unless something in them is recorded, such as a mark. The options -D and -t of `fathom
// record` set the same limits. Calls that are left out are counted. With `--mode profile` or `counts`, the limits have
// no effect: all calls are added up.
FATHOM_INLINE void fathom_start_with(uint32_t max_depth, uint64_t min_cost) {
    FATHOM_CALL(start_with, max_depth, min_cost);
}

// Stops recording until the next start. Calls that are open end here and are marked open. Other threads stop at their
// next call. A thread that makes no call before the next start goes on as if recording had not stopped.
FATHOM_INLINE void fathom_stop(void) { FATHOM_CALL(stop); }

// Finishes the buffer that this thread is writing, so that the recorder moves it to the session's log. What all threads
// have recorded until now can then be read, whatever becomes of this process. With `--mode flight`, the recorder saves
// the newest calls as a session. With `--mode profile` or `counts`, sums can be read at any time, without this.
FATHOM_INLINE void fathom_save(void) { FATHOM_CALL(save); }

// Marks a moment of this thread, which is shown between its calls.
FATHOM_INLINE void fathom_mark(const char *name) { FATHOM_CALL(mark, name); }

// Sets the value that a counter has from now on. Integers are exact up to 2^53.
FATHOM_INLINE void fathom_set_counter(const char *name, double value) { FATHOM_CALL(set_counter, name, value); }

// Begins a scope, which is shown as a call of this name. Begin it in the function whose block it covers, or in a
// function that this one calls. The scope ends with fathom_end, or when a longjmp or an exception leaves the block.
FATHOM_INLINE void fathom_begin(const char *name) { FATHOM_CALL(begin, name); }

// Ends this thread's innermost scope.
FATHOM_INLINE void fathom_end(void) { FATHOM_CALL(end); }

// Names this thread in the recording; the first 15 bytes of the name count. The name that the system knows stays.
FATHOM_INLINE void fathom_name_thread(const char *name) { FATHOM_CALL(name_thread, name); }

FATHOM_INLINE const struct fathom_api *fathom_scope_begin(const char *name) {
    const struct fathom_api *api = fathom_find_api();
    if (__builtin_expect(api != (const struct fathom_api *)0, 0)) api->begin(name);
    return api;
}

static inline __attribute__((no_instrument_function, unused)) void
fathom_scope_end(const struct fathom_api *const *api) {
    if (__builtin_expect(*api != (const struct fathom_api *)0, 0)) (*api)->end();
}

#define FATHOM_JOIN(a, b) a##b
#define FATHOM_VARIABLE(line) FATHOM_JOIN(fathom_scope_, line)
// Makes a scope from here to the end of the enclosing block, however the block is left. In C, an exception ends the
// scope only with -fexceptions.
#define FATHOM_SCOPE(name)                                                                                             \
    __attribute__((cleanup(fathom_scope_end), unused)) const struct fathom_api *const FATHOM_VARIABLE(__LINE__) =      \
        fathom_scope_begin(name)

#ifdef __cplusplus
}
#endif

#endif
