// What stands before prctl and syscall, with which programs confine themselves. Both are variadic. Their arguments are
// passed on as the registers and stack words that they are.

#ifndef CTRACERUNTIMECONFINE_H
#define CTRACERUNTIMECONFINE_H

#include "CTraceRuntime.h"

typedef int fathom_prctl_function(int, unsigned long, unsigned long, unsigned long, unsigned long);
typedef long fathom_syscall_function(long, long, long, long, long, long, long);

// `prctl` and `syscall` are the symbols to define, `real_prctl` and `real_syscall` expressions for what they stand
// before.
#define FATHOM_CONFINE(prctl, real_prctl, syscall, real_syscall)                                                       \
    __attribute__((visibility("default"))) fathom_prctl_function fathom_prctl __asm__(prctl);                          \
    int fathom_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {                 \
        fathom_prctl_function *real = real_prctl;                                                                      \
        int confines = fathom_note_prctl(option, a, b);                                                                \
        int result = real(option, a, b, c, d);                                                                         \
        if (confines) fathom_note_confined(result);                                                                    \
        return result;                                                                                                 \
    }                                                                                                                  \
    __attribute__((visibility("default"))) fathom_syscall_function fathom_syscall __asm__(syscall);                    \
    long fathom_syscall(long number, long a, long b, long c, long d, long e, long f) {                                 \
        fathom_syscall_function *real = real_syscall;                                                                  \
        if (!fathom_note_system_call(number, a, b, c))                                                                 \
            __attribute__((musttail)) return real(number, a, b, c, d, e, f);                                           \
        long result = real(number, a, b, c, d, e, f);                                                                  \
        fathom_note_confined(result);                                                                                  \
        return result;                                                                                                 \
    }

#endif
