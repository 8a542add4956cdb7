// What every file of the runtime includes first. This is the data that its rooms, which are folders, share:
//
//   control   one page, wiped by the kernel in a fork's child; every hook tests it first
//   runtime   one per process: the session's buffers, as mapped here, and the process's metadata chunk
//   thread    one per thread, in its TLS: the stack of open calls and the chunk being written
//   lane      one per stack a thread runs on: its own, and each coroutine's
//
// Hooks enter the slow paths with the thread marked busy, so that a signal handler's hooks go to the side buffer and
// never re-enter them.

#ifndef FATHOM_BASE_H
#define FATHOM_BASE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CTraceFormat.h"
#include "CTraceRuntimeHost.h"
#include "CTraceSteering.h"
#include "system.h"

// A number that is defined as one, as text for the assembler.
#define TEXT(number) AS_TEXT(number)
#define AS_TEXT(number) #number

#define EXPORT __attribute__((visibility("default"), no_instrument_function))
#define SLOW __attribute__((noinline, cold, visibility("hidden")))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
// Keeps order between a thread and handlers of its signals: the compiler moves nothing across it. The processor shows a
// thread, with its handlers, its own stores in order anyway.
#define BARRIER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

// The stack pointer of the caller at its call of this hook. clang's __builtin_dwarf_cfa gives another value on aarch64.
#if defined(__aarch64__) && defined(__clang__)
#define CALLER_STACK_POINTER() ((uintptr_t)__builtin_sponentry())
#else
#define CALLER_STACK_POINTER() ((uintptr_t)__builtin_dwarf_cfa())
#endif

#endif
