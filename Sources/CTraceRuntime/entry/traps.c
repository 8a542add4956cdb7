// First calls without hooks. A trap, one byte, stands where a function begins; the signal that it raises leads here.
// The trap is taken away, the call is recorded, and the function begins anew.
//
// The dynamic linker tells debuggers of libraries before their constructors run, by calling a function that does
// nothing (entry/loading.h). A trap stands there, too, and stays.

#include "../follow/aside.h"
#include "../follow/process.h"
#include "../host/loader.h"
#include "../host/runtime.h"
#include "../session/entries.h"
#include "../session/functions.h"
#include "../session/modules.h"
#include "CTraceRuntime.h"
#include "image.h"
#include "loading.h"

#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

FATHOM_WITHOUT_HOOKS

struct fathom_traps fathom_traps;
__thread struct fathom_trap_block fathom_trap_block;

void fathom_note_memory(const void *start, size_t size) { entries_give_up((uintptr_t)start, (uintptr_t)start + size); }

#if defined(__x86_64__)

#define TRAP_BIT (1ull << (SIGTRAP - 1))
// The stack may overflow while a trap is handled (host/system.h).
#define FAULT_BITS (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1))

static long set_action(void *handler, unsigned long flags, uint64_t mask) {
    return system_act(SIGTRAP, (struct system_action){handler, flags, NULL, mask});
}

// ---- the dynamic linker

static struct {
    uintptr_t next;  // where to go on; 0: at its caller
    uint8_t byte;    // what the trap took the place of; 0: there is none
} loader;

// Puts a trap on the dynamic linker's function. That does nothing, so its code is a return, perhaps behind the mark of
// places that may be jumped to (endbr64).
static void watch_loader(void) {
    const uint8_t *code = (const uint8_t *)loading.address;
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (!code) return;
    if (__builtin_memcmp(code, mark, sizeof mark) == 0 && code[4] == 0xc3) loader.next = loading.address + sizeof mark;
    else if (code[0] != 0xc3) return;
    uintptr_t page = loading.address & ~(PAGE_SIZE - 1);
    if (system_protect(page, page + PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
    loader.byte = *code;
    // Release: whoever meets the trap finds where to go on.
    __atomic_store_n((uint8_t *)loading.address, TRAP, __ATOMIC_RELEASE);
}

// ---- the signal

static void block_truly(int how) { system_mask_signals(how, TRAP_BIT, NULL); }

// The handler stays: another thread may have met a trap a moment ago.
void traps_give_up(void) {
    uint32_t on = FATHOM_TRAPS_ON;
    if (!__atomic_compare_exchange_n(&fathom_traps.on, &on, FATHOM_TRAPS_GIVEN_UP, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    entries_give_up_all();
    if (loader.byte) __atomic_store_n((uint8_t *)loading.address, loader.byte, __ATOMIC_RELEASE);
    if (fathom_trap_block.is_blocked) fathom_trap_blocked(1);
}

// ---- signals that are sent while the program has them blocked

// One that was sent to the process and not to a thread.
static struct {
    siginfo_t info;
    uint32_t is_there;
} held;
static uint32_t is_asked;  // the program asks for what is pending: it is to wait in the kernel

static void send_held(void) {
    if (fathom_trap_block.is_pending) system_signal_thread(SIGTRAP, NULL);
    fathom_trap_block.is_pending = 0;
    if (fathom_swap32(&held.is_there, 1, 0)) system_signal_process(SIGTRAP, &held.info);
}

// In the kernel, the program can ask for it in many ways: sigpending, sigwait, signalfd. No thread can have a trap
// then, so that is the end of them.
static void hold(siginfo_t *info, ucontext_t *context) {
    if (fathom_load32(&fathom_traps.on) == FATHOM_TRAPS_ON && !fathom_load32(&is_asked)) {
        if (info->si_code == SI_TKILL) {
            fathom_trap_block.is_pending = 1;
        } else {
            held.info = *info;
            fathom_store32(&held.is_there, 1);
        }
        return;
    }
    traps_give_up();
    fathom_trap_blocked(1);
    sigaddset(&context->uc_sigmask, SIGTRAP);
    if (info->si_code != SI_TKILL) return system_signal_process(SIGTRAP, info);
    system_signal_thread(SIGTRAP, info);
}

void fathom_traps_ask(void) {
    fathom_store32(&is_asked, 1);
    if (!fathom_trap_block.is_pending && !fathom_load32(&held.is_there)) return;
    int is_blocked = fathom_trap_block.is_blocked;
    traps_give_up();
    if (is_blocked) fathom_trap_blocked(1);
    send_held();
}

// While there are traps, what is blocked is only kept in mind.
void fathom_trap_blocked(int is_blocked) {
    int is_kernels = fathom_load32(&fathom_traps.on) == FATHOM_TRAPS_GIVEN_UP;
    if (is_kernels) block_truly(is_blocked ? SIG_BLOCK : SIG_UNBLOCK);
    fathom_trap_block.is_blocked = is_blocked && !is_kernels;
    if (!is_blocked && (fathom_trap_block.is_pending || fathom_load32(&held.is_there))) send_held();
}

// Between these two, only code of the C library runs in the thread, which has no traps.
void fathom_traps_pass_on(void) {
    if (fathom_traps.on && fathom_trap_block.is_blocked) block_truly(SIG_BLOCK);
}
void fathom_traps_passed_on(void) {
    if (fathom_load32(&fathom_traps.on) == FATHOM_TRAPS_ON && fathom_trap_block.is_blocked) block_truly(SIG_UNBLOCK);
}

// Handles a trap or a signal that is the program's own: does what the kernel would do if the runtime were not there.
static void pass_on(siginfo_t *info, ucontext_t *context) {
    struct fathom_trap_action action = fathom_traps.action;
    int is_sent = info->si_code <= 0;
    if (is_sent && fathom_trap_block.is_blocked) return hold(info, context);
    if (action.handler == (void *)SIG_IGN && is_sent) return;
    if (action.handler == (void *)SIG_DFL || action.handler == (void *)SIG_IGN || fathom_trap_block.is_blocked) {
        // The kernel would end the process, and does it now.
        set_action(SIG_DFL, 0, 0);
        system_signal_thread(SIGTRAP, NULL);
        return;
    }
    if (action.flags & SA_RESETHAND) fathom_traps.action.handler = (void *)SIG_DFL;
    uint64_t mask;
    __builtin_memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask |= action.mask | (action.flags & SA_NODEFER ? 0 : TRAP_BIT);
    if (fathom_load32(&fathom_traps.on) == FATHOM_TRAPS_ON) {
        fathom_trap_block.is_blocked = (mask & TRAP_BIT) != 0;
        mask &= ~TRAP_BIT;
    }
    system_mask_signals(SIG_SETMASK, mask, NULL);
    // The kernel passes three arguments to every handler, with SA_SIGINFO or without.
    ((void (*)(int, siginfo_t *, void *))action.handler)(SIGTRAP, info, context);
    fathom_trap_block.is_blocked = 0;
}

static void record(uintptr_t function, uintptr_t stack_pointer) {
    uintptr_t call_site = *(const uintptr_t *)stack_pointer;
    uintptr_t frame = stack_pointer + sizeof call_site;
    aside_hook(function, call_site, frame, 0, HOOK_ENTER);
    aside_hook(function, call_site, frame, 0, HOOK_EXIT);
}

static void trapped(int number, siginfo_t *info, void *saved) {
    (void)number;
    ucontext_t *context = saved;
    greg_t *registers = context->uc_mcontext.gregs;
    uintptr_t address = (uintptr_t)registers[REG_RIP] - 1;
    if (info->si_code <= 0) return pass_on(info, context);
    if (address == loading.address) {
        if (runtime_ready()) modules_scan(LOADER_PATIENCE);
        registers[REG_RIP] = (greg_t)loader.next;
        if (!loader.next) {
            registers[REG_RIP] = *(const greg_t *)registers[REG_RSP];
            registers[REG_RSP] += (greg_t)sizeof(uintptr_t);
        }
        return;
    }
    enum taken taken = entries_take(address);
    if (taken == TAKEN_NONE) return pass_on(info, context);
    registers[REG_RIP] = (greg_t)address;
    if (taken == TAKEN_FIRST) record(address, (uintptr_t)registers[REG_RSP]);
}

void fathom_traps_begin(void) {
    if (runtime.state == STATE_OFF) return;
    loading_watch();
    if (!functions_are_entries()) return;
    // While a trap is handled, other signals wait. SIGTRAP does not: where the runtime calls a function of the C
    // library, the program may have a function of that name, with a trap.
    system_keeps_traps = 1;
    void *before = system_handler(SIGTRAP);
    if (set_action(trapped, SA_SIGINFO | SA_NODEFER | SA_RESTART, ~(TRAP_BIT | FAULT_BITS)) != 0) return;
    fathom_traps.action = (struct fathom_trap_action){before, 0, 0};
    uint64_t blocked = 0;
    system_mask_signals(SIG_UNBLOCK, TRAP_BIT, &blocked);
    fathom_trap_block.is_blocked = (blocked & TRAP_BIT) != 0;
    fathom_store32(&fathom_traps.on, 1);
    if (!runtime_ready()) return;
    loading_find();
    watch_loader();
}

#else

void fathom_traps_begin(void) {
    if (runtime.state != STATE_OFF) loading_watch();
}
void traps_give_up(void) {}
void fathom_trap_blocked(int is_blocked) { (void)is_blocked; }
void fathom_traps_ask(void) {}
void fathom_traps_pass_on(void) {}
void fathom_traps_passed_on(void) {}

#endif

FATHOM_WITHOUT_HOOKS_END
