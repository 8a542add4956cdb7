// Calls the hooks of a sanitizer's instrumentation by hand, as the Swift compiler makes its code call them: they tell
// the function by an address inside it, and its end by nothing. Frames move their stack pointer after the hook, and are
// left by longjmp at random; scopes are begun in them and not always ended. Writes the true tree to standard output,
// "depth name" a line. With a second argument, of a recording that it starts itself when all that is over.

#include <alloca.h>
#include <fathom.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void __tsan_func_entry(void *call_site);
void __tsan_func_exit(void);

#define APART __attribute__((noinline, noclone))
#define BEGIN                                                                                                          \
    __tsan_func_entry(__builtin_return_address(0));                                                                    \
    printf("%d %s\n", depth++, __func__)
// The compiler does not jump to this hook either.
#define END                                                                                                            \
    depth--;                                                                                                           \
    __tsan_func_exit();                                                                                                \
    __asm__ volatile("")

static int depth, left, landing_count;
static jmp_buf landings[64];
static uint64_t seed = 88172645463325252u;

static unsigned pick(unsigned below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}

static void walk(int level);

APART static void leaf(void) {
    BEGIN;
    END;
}

APART static void jump(void) {
    BEGIN;
    if (landing_count) longjmp(landings[pick((unsigned)landing_count)], 1);
    END;
}

APART static void grow(int level) {
    BEGIN;
    volatile char *room = alloca(16 + pick(2000));
    room[0] = 1;
    walk(level + 1);
    END;
}

APART static void land(int level) {
    BEGIN;
    volatile int own_depth = depth, own_count = landing_count;
    if (!setjmp(landings[landing_count])) {
        landing_count++;
        walk(level + 1);
    }
    depth = own_depth;
    landing_count = own_count;
    walk(level + 1);
    END;
}

APART static void scope(int level) {
    BEGIN;
    int own_depth = depth;
    fathom_begin("scoped");
    printf("%d scoped\n", depth++);
    walk(level + 1);
    if (pick(2)) {
        fathom_end();
        depth--;
        walk(level + 1);
    }
    depth = own_depth;
    END;
}

static void handle(int number) {
    BEGIN;
    (void)number;
    leaf();
    END;
}

static void walk(int level) {
    for (unsigned calls = pick(4); calls > 0 && left > 0; calls--) {
        left--;
        switch (level > 50 ? 0 : pick(level > 3 ? 9 : 5)) {
        case 1: grow(level); break;
        case 2: land(level); break;
        case 3: raise(SIGUSR1); break;
        case 4: scope(level); break;
        case 5: jump(); break;
        default: leaf(); break;
        }
    }
}

int main(int count, char **arguments) {
    signal(SIGUSR1, handle);
    BEGIN;
    fathom_end();  // there is no scope to end
    for (left = count > 1 ? atoi(arguments[1]) : 1000; left > 0;) walk(0);
    if (count > 2) {
        fathom_begin("all the rest");
        fathom_start();
        leaf();
    }
    END;
    // Of a call that nobody saw begin.
    __tsan_func_exit();
    leaf();
}
