// What the programs of generate_cpp.py share: a walk through their functions that ends, a checksum, and coroutines.
//
//   program ROUNDS    prints a line with the checksum after each round

#include "counted.h"

#include <alloca.h>
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <utility>

#ifdef __clang__
#define CLANG(attribute) attribute
#define TAIL [[clang::musttail]]
#else
#define CLANG(attribute)
#define TAIL
#endif

using f_t = unsigned (*)(unsigned);

struct Error {
    unsigned code;
};
struct Worse : Error {};
struct Pair {
    long a;
    double b;
};
struct Big {
    long a[7];
};
struct Floats {
    float x, y, z;
};
typedef _Complex double complex;
typedef int four __attribute__((vector_size(16)));
typedef double wide __attribute__((vector_size(32)));

struct Walk {
    unsigned long state = 88172645463325252ul, hash = 1469598103934665603ul;
    long budget = 0;
    unsigned guards = 0;
};
// Has a constructor, which each thread runs.
static thread_local Walk walk;

static inline void mix(unsigned long value) { walk.hash = (walk.hash ^ value) * 1099511628211ul; }

static inline unsigned pick(unsigned below) {
    walk.state ^= walk.state << 13;
    walk.state ^= walk.state >> 7;
    walk.state ^= walk.state << 17;
    return unsigned(walk.state >> 33) % below;
}

static inline bool spend(unsigned level) { return level < 24 && walk.budget > 0 && walk.budget-- > 0; }

// What ends a row of tail calls with arguments in all registers.
static __attribute__((noinline)) unsigned wide_end(unsigned level, long a, long b, long c, long d, long e) {
    walk.hash += (unsigned long)(a ^ b * 3 ^ c * 5 ^ d * 7 ^ e * 11);
    return level;
}

// Where arguments go that have to be in memory.
static void *volatile escaped;
static __attribute__((noinline)) void escape(void *argument) { escaped = argument; }

static inline unsigned poll(void (*function)(volatile unsigned *, volatile unsigned *), unsigned level) {
    volatile unsigned status = level & 63, count = 0;
    function(&status, &count);
    return status + count;
}

template <class F> struct Guard {
    F function;
    ~Guard() {
        walk.guards++;
        function();
        walk.guards--;
    }
};
template <class F> Guard(F) -> Guard<F>;

// Yields numbers; what it throws comes to whoever asks for the next one.
struct Numbers {
    struct promise_type {
        unsigned value = 0;
        std::exception_ptr error;
        Numbers get_return_object() { return Numbers{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(unsigned next) {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { error = std::current_exception(); }
    };
    std::coroutine_handle<promise_type> handle;
    explicit Numbers(std::coroutine_handle<promise_type> handle) : handle(handle) {}
    Numbers(Numbers &&other) noexcept : handle(std::exchange(other.handle, {})) {}
    ~Numbers() {
        if (handle) handle.destroy();
    }
    bool next() {
        handle.resume();
        if (handle.promise().error) std::rethrow_exception(handle.promise().error);
        return !handle.done();
    }
};

// Begins when it is awaited, and goes on with who awaits it by a symmetric transfer, which is a tail call.
struct Task {
    struct promise_type {
        unsigned value = 0;
        std::exception_ptr error;
        std::coroutine_handle<> waiter;
        Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct Final {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
                std::coroutine_handle<> waiter = ended.promise().waiter;
                return waiter ? waiter : std::noop_coroutine();
            }
            void await_resume() noexcept {}
        };
        Final final_suspend() noexcept { return {}; }
        void return_value(unsigned result) { value = result; }
        void unhandled_exception() { error = std::current_exception(); }
    };
    std::coroutine_handle<promise_type> handle;
    explicit Task(std::coroutine_handle<promise_type> handle) : handle(handle) {}
    Task(Task &&other) noexcept : handle(std::exchange(other.handle, {})) {}
    ~Task() {
        if (handle) handle.destroy();
    }
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) {
        handle.promise().waiter = waiter;
        return handle;
    }
    unsigned await_resume() {
        if (handle.promise().error) std::rethrow_exception(handle.promise().error);
        return handle.promise().value;
    }
    unsigned run() {
        handle.resume();
        return await_resume();
    }
};

static volatile sig_atomic_t signals;
// No function of the walk: a signal may come anywhere.
static __attribute__((noinline)) unsigned signalled(unsigned number) {
    signals = signals + 1;
    return number + (unsigned)signals;
}
static void handler(int number) { signalled((unsigned)number); }

// A walk of a thread of its own, whose checksum counts.
struct Thread {
    f_t function;
    unsigned long seed, hash;
    pthread_t thread;
};
static void *thread_main(void *argument) {
    Thread *thread = static_cast<Thread *>(argument);
    walk.state = thread->seed;
    walk.budget = 200;
    try {
        while (walk.budget > 0) {
            walk.budget--;
            mix(thread->function(0));
        }
    } catch (const Error &error) {
        mix(error.code);
    }
    thread->hash = walk.hash;
    return argument;
}

static void run_threads(f_t first, f_t second) {
    Thread threads[2] = {{first, pick(1000) + 1ul, 0, {}}, {second, pick(1000) + 1ul, 0, {}}};
    for (Thread &thread : threads)
        if (pthread_create(&thread.thread, nullptr, thread_main, &thread)) abort();
    for (Thread &thread : threads) {
        pthread_join(thread.thread, nullptr);
        mix(thread.hash);
    }
}

static void run_child(f_t function) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        unsigned result;
        walk.budget = 50;
        try {
            result = function(0);
        } catch (const Error &error) {
            result = error.code;
        }
        _exit(int(result & 63));
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child) abort();
    mix(unsigned(status));
}
