// Linked into every Swift product that `fathom build` instruments: what the compiler's sanitizer hooks come to. They
// are hidden in the product, so a program or library with the real sanitizer is none the wiser, and the product runs
// anywhere: where the runtime is not loaded, they do nothing.

#define HOOK __attribute__((weak, visibility("hidden"), no_instrument_function))
#define UNUSED __attribute__((unused))

// Sources/CTraceRuntime/entry/hooks.c.
extern void fathom_swift_enter(void *inside, void *site) __attribute__((weak, visibility("default")));
extern void fathom_swift_exit(void) __attribute__((weak, visibility("default")));

extern void fathom_swift_tasks(void *(*current)(void), void *run) __attribute__((weak, visibility("default")));
extern void *swift_task_getCurrent(void) __attribute__((weak, visibility("default")));
// swift::runJobInEstablishedExecutorContext(swift::Job *); there only when the library is part of the product.
extern char run_job[] __asm__("_ZN5swift34runJobInEstablishedExecutorContextEPNS_3JobE")
    __attribute__((weak, visibility("hidden")));

// Tells the runtime how to ask which task runs, and where tasks are run. This is a call and not a jump, because the
// runtime knows the product by where it returns to.
__attribute__((constructor, no_instrument_function)) static void find_tasks(void) {
    if (fathom_swift_tasks && swift_task_getCurrent) fathom_swift_tasks(swift_task_getCurrent, run_job);
    __asm__ volatile("");
}

// Jumps, so that the runtime finds the function's own stack pointer. It jumps by a register, because on aarch64 no
// compiler jumps by name to a function that may be missing.
#if defined(__clang__)
#define JUMP __attribute__((musttail)) return
#else
#define JUMP
#endif
#define BY_REGISTER(function) __asm__("" : "+r"(function))

// Callers pass only the call site. The second parameter makes it a jump between functions of one signature.
HOOK void __tsan_func_entry(void *site, UNUSED void *nothing) {
    void (*enter)(void *, void *) = fathom_swift_enter;
    BY_REGISTER(enter);
    if (enter) JUMP enter(__builtin_return_address(0), site);
}

HOOK void __tsan_func_exit(void) {
    void (*leave)(void) = fathom_swift_exit;
    BY_REGISTER(leave);
    if (leave) JUMP leave();
}

// Other functions that the instrumentation calls, whatever is switched off.
#define NOTHING(name, ...)                                                                                             \
    HOOK void name(__VA_ARGS__) {}
NOTHING(__tsan_init, void)
NOTHING(__tsan_ignore_thread_begin, void)
NOTHING(__tsan_ignore_thread_end, void)
NOTHING(__tsan_external_read, UNUSED void *address, UNUSED void *site, UNUSED void *tag)
NOTHING(__tsan_external_write, UNUSED void *address, UNUSED void *site, UNUSED void *tag)
NOTHING(__tsan_external_assign_tag, UNUSED void *address, UNUSED void *tag)
HOOK void *__tsan_external_register_tag(UNUSED const char *name) { return 0; }
HOOK void __tsan_external_register_header(UNUSED void *tag, UNUSED const char *header) {}
NOTHING(__tsan_vptr_read, UNUSED void *address)
NOTHING(__tsan_vptr_update, UNUSED void *address, UNUSED void *value)
