// Tells where the C library's jumps land, by what their buffers say.
//
// When a thread ends inside pthread_cleanup_push, in C, glibc jumps to where the push called setjmp. It does that in a
// function that nothing can stand before. So the address in the buffer, which lies in the pushing function's frame, is
// exchanged for one of ours, which notes the landing and then goes on to the original address.

#include "../host/runtime.h"
#include "CTraceRuntime.h"

FATHOM_WITHOUT_HOOKS

// From glibc's jmpbuf-offsets.h: the words that hold the stack pointer and the address. Both are mangled.
#if defined(__x86_64__)
#define STACK_POINTER 6
#define TARGET 7
static uintptr_t mangled(uintptr_t word) {
    __asm__("xorq %%fs:0x30, %0\n\trolq $17, %0" : "+r"(word) : : "cc");
    return word;
}
static uintptr_t unmangled(uintptr_t word) {
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(word) : : "cc");
    return word;
}
#else
#define STACK_POINTER 13
#define TARGET 11
extern uintptr_t __pointer_chk_guard __attribute__((weak));
static uintptr_t mangled(uintptr_t word) { return word ^ (&__pointer_chk_guard ? __pointer_chk_guard : 0); }
static uintptr_t unmangled(uintptr_t word) { return mangled(word); }
#endif

uintptr_t fathom_jump_target(const void *environment) {
    return unmangled(((const uintptr_t *)environment)[STACK_POINTER]);
}

// ---- compilers' own jumps: the buffer has a frame pointer, where control lands, and the stack pointer. Where gcc
// protects returns, the place on the shadow stack comes before the stack pointer; it is 0, or lies below the stack.

#define STACK_LIMIT ((uintptr_t)1 << 30)

void fathom_note_builtin_jump(void *const *buffer) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    for (int i = 2; i < 4; i++)
        if ((uintptr_t)buffer[i] - here < STACK_LIMIT) return fathom_note_landing((uintptr_t)buffer[i]);
}

// ---- cleanup handlers --------------------------------------------------------------------------------------------

#define CLEANUPS 32u               // of a thread, one inside the other; landings for more are not noticed
#define NEAR ((uintptr_t)1 << 12)  // more than the frames between the pushing function and its note
#define FAR ((uintptr_t)1 << 20)   // more than the code between the push's two calls

// A push, from where it registers its buffer to where it takes it back. stack_pointer is 0 when there is no push.
// buffer says how many words above the stack pointer the buffer lies, and is 0 once its handler has run. Addresses of
// programs have 48 bits. It is this small because a program that runs already has little room for thread-local data.
struct cleanup {
    uint64_t stack_pointer : 48, buffer : 16;
    uintptr_t target;
};
#define HIGHEST_BUFFER 0xffffu
static __thread struct {
    uint32_t count;
    struct cleanup all[CLEANUPS];
} cleanups __attribute__((tls_model("initial-exec")));

static int is_of(const struct cleanup *cleanup, const void *buffer) {
    return cleanup->buffer && cleanup->stack_pointer + cleanup->buffer * sizeof(uintptr_t) == (uintptr_t)buffer;
}

static struct cleanup *find(const void *buffer) {
    for (uint32_t i = cleanups.count; i-- > 0;)
        if (is_of(&cleanups.all[i], buffer)) return &cleanups.all[i];
    return NULL;
}

void fathom_note_cleanup_end(const void *buffer) {
    struct cleanup *cleanup = find(buffer);
    if (!cleanup) return;
    *cleanup = (struct cleanup){0, 0, 0};
    while (cleanups.count > 0 && !cleanups.all[cleanups.count - 1].stack_pointer) cleanups.count--;
}

void fathom_note_cleanup_done(const void *buffer) {
    struct cleanup *cleanup = find(buffer);
    if (cleanup) cleanup->buffer = 0;
}

void fathom_cleanup_landing(void) __attribute__((visibility("hidden")));

void fathom_note_cleanup(void *buffer, uintptr_t return_address) {
    uintptr_t *words = buffer, sp = unmangled(words[STACK_POINTER]), target = unmangled(words[TARGET]);
    // An earlier push here was left by a jump, and its function has come again.
    fathom_note_cleanup_end(buffer);
    if (control_mode() == MODE_OFF || cleanups.count == CLEANUPS) return;
    // If this does not hold, the buffer is not laid out as this code expects.
    if (sp - (uintptr_t)__builtin_frame_address(0) > NEAR || target - return_address + FAR > 2 * FAR) return;
    uintptr_t above = ((uintptr_t)buffer - sp) / sizeof *words;
    if (!above || above > HIGHEST_BUFFER) return;
    for (;;) {
        uint32_t place = cleanups.count;
        cleanups.all[place] = (struct cleanup){sp, (uint16_t)above, target};
        BARRIER();
        cleanups.count = place + 1;
        BARRIER();
        // A signal handler that came in between may have pushed, and taken back, in the same place.
        if (is_of(&cleanups.all[place], buffer) && cleanups.count > place) break;
        if (cleanups.count == CLEANUPS) return;
    }
    words[TARGET] = mangled((uintptr_t)fathom_cleanup_landing);
}

// Control has landed in a frame that has pushed, on its way to the address that this returns.
__attribute__((used, visibility("hidden"))) uintptr_t fathom_cleanup_landed(uintptr_t sp) {
    // The pushes of one frame are one inside the other. If the handlers of all of them have run, one of these handlers
    // has ended its thread once more, and glibc begins again.
    struct cleanup *landing = NULL;
    for (int may_have_run = 0; !landing && may_have_run < 2; may_have_run++)
        for (uint32_t i = cleanups.count; i-- > 0 && !landing;)
            if (cleanups.all[i].stack_pointer == sp && (cleanups.all[i].buffer || may_have_run))
                landing = &cleanups.all[i];
    if (!landing) __builtin_trap();
    uintptr_t target = landing->target;
    fathom_note_landing(sp);
    return target;
}

// This is the code behind setjmp, which has returned what the result's register holds. Nothing below the stack pointer
// is in use.
#if defined(__x86_64__)
__asm__(".text\n.hidden fathom_cleanup_landing\n.type fathom_cleanup_landing, %function\nfathom_cleanup_landing:\n"
        "endbr64\nmovq %rsp, %rdi\npushq %rax\npushq %rax\ncall fathom_cleanup_landed\npopq %rcx\npopq %rcx\n"
        "movq %rax, %rdx\nmovl %ecx, %eax\nnotrack jmp *%rdx\n"
        ".size fathom_cleanup_landing, . - fathom_cleanup_landing\n");
#else
__asm__(".text\n.hidden fathom_cleanup_landing\n.type fathom_cleanup_landing, %function\nfathom_cleanup_landing:\n"
        "hint #36\n"  // bti j
        "str x0, [sp, #-16]!\nadd x0, sp, #16\nbl fathom_cleanup_landed\nmov x16, x0\nldr x0, [sp], #16\nbr x16\n"
        ".size fathom_cleanup_landing, . - fathom_cleanup_landing\n");
#endif

FATHOM_WITHOUT_HOOKS_END
