#include "../host/runtime.h"
#include "library_slots.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

// One after the other, so that there are no pointers to relocate.
static const char left[] =
    // They return twice.
    "setjmp\0_setjmp\0__sigsetjmp\0sigsetjmp\0savectx\0vfork\0__vfork\0getcontext\0"
    // They look at where they return to, or which code calls them.
    "dlopen\0dlmopen\0dlsym\0dlvsym\0__dlsym\0__libc_dlopen_mode\0_dl_sym\0dlinfo\0dl_iterate_phdr\0"
    // Exceptions begin there, and the unwinder takes their callers for where they do.
    "__cxa_throw\0__cxa_rethrow\0"
    // They have calling conventions of their own.
    "__tls_get_addr\0___tls_get_addr\0mcount\0_mcount\0__fentry__\0__morestack\0__gnu_mcount_nc\0clone\0__clone\0"
    // They begin and end programs and modules.
    "__libc_start_main\0__gmon_start__\0_ITM_deregisterTMCloneTable\0_ITM_registerTMCloneTable\0__cxa_finalize\0"
    // The compilers' hooks.
    "__cyg_profile_func_enter\0__cyg_profile_func_exit\0";
// The same of all names that begin so: the unwinder, the cleanup handlers of threads, which go on in a buffer of
// setjmp; what sanitizers put into code, which looks at its callers; the dynamic linker; and Fathom's own.
static const char left_beginnings[] = "_Unwind_\0__pthread_\0__asan_\0__tsan_\0__msan_\0__ubsan_\0__sanitizer_\0__"
                                      "hwasan_\0__lsan_\0__xray_\0_dl_\0fathom_\0";

static int begins(const char *name, const char *beginning) {
    while (*beginning && *name == *beginning) name++, beginning++;
    return !*beginning;
}
static const char *next(const char *text) {
    while (*text) text++;
    return text + 1;
}

int library_name_is_left(const char *name) {
    for (const char *other = left; *other; other = next(other))
        if (begins(name, other) && next(name) - name == next(other) - other) return 1;
    for (const char *other = left_beginnings; *other; other = next(other))
        if (begins(name, other)) return 1;
    return 0;
}

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

int library_name_is_asked(const char *name) { return matches(runtime.head.library_calls, name); }

FATHOM_WITHOUT_HOOKS_END

#endif
