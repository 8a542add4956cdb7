#include "../host/runtime.h"
#include "../host/text.h"
#include "library_slots.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

// One after the other, so that there are no pointers to relocate.
static const char passed[] =
    // They return twice, or several times.
    "setjmp\0_setjmp\0__sigsetjmp\0sigsetjmp\0savectx\0vfork\0__vfork\0getcontext\0swapcontext\0"
    // They look at where they return to, or which code calls them.
    "dlopen\0dlmopen\0dlsym\0dlvsym\0__dlsym\0__libc_dlopen_mode\0_dl_sym\0dlinfo\0dl_iterate_phdr\0backtrace\0"
    // Exceptions begin there, and the unwinder takes their callers for where they do.
    "__cxa_throw\0__cxa_rethrow\0";
static const char left[] =
    // They have calling conventions of their own.
    "__tls_get_addr\0___tls_get_addr\0mcount\0_mcount\0__fentry__\0__morestack\0__gnu_mcount_nc\0clone\0__clone\0"
    // They begin and end programs and modules.
    "__libc_start_main\0__gmon_start__\0_ITM_deregisterTMCloneTable\0_ITM_registerTMCloneTable\0__cxa_finalize\0"
    // The compilers' hooks.
    "__cyg_profile_func_enter\0__cyg_profile_func_exit\0";
static const char passed_beginnings[] = "_Unwind_\0";
// The cleanup handlers of threads, which go on in a buffer of setjmp; what sanitizers put into code, which looks at its
// callers; the dynamic linker; OCaml's runtime, which looks its callers up in tables of frames; and Fathom's own.
static const char left_beginnings[] =
    "__pthread_\0__asan_\0__tsan_\0__msan_\0__ubsan_\0__sanitizer_\0__hwasan_\0__lsan_\0__xray_\0_dl_\0caml_\0"
    "fathom_\0";
// Modules.
static const char systems[] = "libc.so\0ld-linux\0libpthread.so\0libdl.so\0librt.so\0libgcc_s.so\0libunwind\0";
static const char sanitizers[] =
    "libasan.so\0libtsan.so\0liblsan.so\0libubsan.so\0libclang_rt\0libmsan.so\0libhwasan.so\0";

static int has(const char *list, const char *name) {
    for (; *list; list = text_next(list))
        if (text_starts_with(name, list) && text_length(name) == text_length(list)) return 1;
    return 0;
}
static int has_beginning(const char *list, const char *name) {
    for (; *list; list = text_next(list))
        if (text_starts_with(name, list)) return 1;
    return 0;
}

int library_is_sanitizer(const char *name) { return has_beginning(sanitizers, name); }
int library_is_system(const char *name) { return has_beginning(systems, name) || library_is_sanitizer(name); }

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

enum library_fate library_name_fate(const char *name) {
    if (!*name || has(left, name) || has_beginning(left_beginnings, name)) return LIBRARY_LEFT;
    if (has(passed, name) || has_beginning(passed_beginnings, name)) return LIBRARY_PASSED;
    return matches(runtime.head.library_calls, name) ? LIBRARY_RECORDED : LIBRARY_LEFT;
}

FATHOM_WITHOUT_HOOKS_END

#endif
