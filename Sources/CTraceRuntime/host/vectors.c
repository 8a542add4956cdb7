// Keeps vector registers while code of others runs, which this process's program or library calls.

#include "vectors.h"

#include "base.h"

FATHOM_WITHOUT_HOOKS

int vectors_matter;

// ---- what compilers call

// The compilers would make calls of these functions out of their loops.
#define KEEP(value) __asm__ __volatile__("" : "+r"(value))

#if defined(__x86_64__)

__attribute__((used, visibility("hidden"))) void *vectors_copy(void *to, const void *from, size_t size) {
    void *start = to;
    __asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
    return start;
}

__attribute__((used, visibility("hidden"))) void *vectors_fill(void *to, int byte, size_t size) {
    void *start = to;
    __asm__ __volatile__("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
    return start;
}

#else

__attribute__((used, visibility("hidden"))) void *vectors_copy(void *to, const void *from, size_t size) {
    char *at = to;
    const char *source = from;
    for (; size >= 8; size -= 8, at += 8, source += 8) {
        uint64_t word;
        __builtin_memcpy(&word, source, sizeof word);
        __builtin_memcpy(at, &word, sizeof word);
        KEEP(at);
    }
    for (; size; size--) {
        *at++ = *source++;
        KEEP(at);
    }
    return to;
}

__attribute__((used, visibility("hidden"))) void *vectors_fill(void *to, int byte, size_t size) {
    char *at = to;
    uint64_t word = 0x0101010101010101ull * (unsigned char)byte;
    for (; size >= 8; size -= 8, at += 8) {
        __builtin_memcpy(at, &word, sizeof word);
        KEEP(at);
    }
    for (; size; size--) {
        *at++ = (char)byte;
        KEEP(at);
    }
    return to;
}

#endif

__attribute__((used, visibility("hidden"))) int vectors_compare(const void *a, const void *b, size_t size) {
    const unsigned char *one = a, *other = b;
    for (size_t i = 0; i < size; i++) {
        KEEP(i);
        if (one[i] != other[i]) return one[i] - other[i];
    }
    return 0;
}

__attribute__((used, visibility("hidden"))) size_t vectors_length(const char *text) {
    size_t size = 0;
    while (text[size]) {
        size++;
        KEEP(size);
    }
    return size;
}

// ---- code of others

#if defined(__x86_64__)

#include <cpuid.h>

// Room for what XSAVE writes of the parts in `mask`, a multiple of 64; without XSAVE, FXSAVE writes 512 bytes.
__attribute__((used, visibility("hidden"))) struct { uint32_t room, mask; } vectors = {0, 0};

static void find(void) {
    uint32_t a, b, c, d, low, high, end = 576, mask = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE) {
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        // SSE, AVX, and the three parts of AVX-512.
        mask = low & 0xe6;
        for (uint32_t part = 2; part < 8; part++) {
            if (!(mask & 1u << part)) continue;
            __cpuid_count(0xd, part, a, b, c, d);
            if (b + a > end) end = b + a;
        }
    }
    vectors.mask = mask;
    // Release: whoever finds that there is room finds the mask. Two threads that come here find out the same.
    __atomic_store_n(&vectors.room, (end + 63) & ~63u, __ATOMIC_RELEASE);
}

// Calls function(argument) with the vector registers saved below the stack pointer. The header behind the first 512
// bytes has to be 0 before.
long vectors_saved(long (*function)(void *), void *argument) __attribute__((visibility("hidden")));
__asm__(".pushsection .text.fathom_slow, \"ax\", %progbits\n"
        ".hidden vectors_saved\n.globl vectors_saved\n.type vectors_saved, %function\n.p2align 4\n"
        "vectors_saved:\n.cfi_startproc\n"
        "pushq %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\n"
        "movq %rsp, %rbx\n.cfi_def_cfa_register %rbx\n"
        "movl vectors(%rip), %eax\nsubq %rax, %rsp\nandq $-64, %rsp\n"
        "movq %rdi, %r8\nmovq %rsi, %rdi\n"
        "xorl %edx, %edx\nmovl vectors+4(%rip), %eax\ntestl %eax, %eax\nje 1f\n"
        "movq %rdx, 512(%rsp)\nmovq %rdx, 520(%rsp)\nmovq %rdx, 528(%rsp)\nmovq %rdx, 536(%rsp)\n"
        "movq %rdx, 544(%rsp)\nmovq %rdx, 552(%rsp)\nmovq %rdx, 560(%rsp)\nmovq %rdx, 568(%rsp)\n"
        "xsave (%rsp)\ncall *%r8\nmovq %rax, %rcx\n"
        "xorl %edx, %edx\nmovl vectors+4(%rip), %eax\nxrstor (%rsp)\njmp 2f\n"
        "1: fxsave (%rsp)\ncall *%r8\nmovq %rax, %rcx\nfxrstor (%rsp)\n"
        "2: movq %rcx, %rax\nmovq %rbx, %rsp\npopq %rbx\n.cfi_def_cfa %rsp, 8\nret\n"
        ".cfi_endproc\n.size vectors_saved, . - vectors_saved\n.popsection\n");

long vectors_keep(long (*function)(void *), void *argument) {
    if (!vectors_matter) return function(argument);
    // Acquire: another thread may have found it out a moment ago.
    if (!__atomic_load_n(&vectors.room, __ATOMIC_ACQUIRE)) find();
    return vectors_saved(function, argument);
}

#else

// Calls function(argument) with the vector registers saved below the stack pointer, and the numbers that say how they
// compute and what has come up.
long vectors_saved(long (*function)(void *), void *argument) __attribute__((visibility("hidden")));
#define PAIR(name, a, b, offset) name " q" #a ", q" #b ", [sp, #" #offset "]\n"
#define ALL(name)                                                                                                      \
    PAIR(name, 0, 1, 32)                                                                                               \
    PAIR(name, 2, 3, 64)                                                                                               \
    PAIR(name, 4, 5, 96)                                                                                               \
    PAIR(name, 6, 7, 128)                                                                                              \
    PAIR(name, 8, 9, 160)                                                                                              \
    PAIR(name, 10, 11, 192)                                                                                            \
    PAIR(name, 12, 13, 224)                                                                                            \
    PAIR(name, 14, 15, 256)                                                                                            \
    PAIR(name, 16, 17, 288)                                                                                            \
    PAIR(name, 18, 19, 320)                                                                                            \
    PAIR(name, 20, 21, 352)                                                                                            \
    PAIR(name, 22, 23, 384)                                                                                            \
    PAIR(name, 24, 25, 416) PAIR(name, 26, 27, 448) PAIR(name, 28, 29, 480) PAIR(name, 30, 31, 512)
__asm__(".pushsection .text.fathom_slow, \"ax\", %progbits\n"
        ".hidden vectors_saved\n.globl vectors_saved\n.type vectors_saved, %function\n.p2align 4\n"
        "vectors_saved:\n.cfi_startproc\n"
        ".arch_extension fp\nsub sp, sp, #544\n.cfi_def_cfa_offset 544\nstp x29, x30, [sp]\n.cfi_offset 29, "
        "-544\n.cfi_offset 30, -536\n"
        "mov x29, sp\nmrs x9, fpcr\nmrs x10, fpsr\nstp x9, x10, [sp, #16]\n" ALL(
            "stp") "mov x9, x0\nmov x0, x1\nblr x9\n"
                   "ldp x9, x10, [sp, #16]\nmsr fpcr, x9\nmsr fpsr, x10\n" ALL(
                       "ldp") "ldp x29, x30, [sp]\nadd sp, sp, #544\n.cfi_def_cfa_offset 0\nret\n"
                              ".cfi_endproc\n.size vectors_saved, . - vectors_saved\n.popsection\n");

long vectors_keep(long (*function)(void *), void *argument) {
    return vectors_matter ? vectors_saved(function, argument) : function(argument);
}

#endif

FATHOM_WITHOUT_HOOKS_END
