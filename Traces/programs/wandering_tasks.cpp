// C++20's coroutines that go from thread to thread: each one awaits others, which are resumed by another thread than
// the one that has suspended them, return values, and throw. What they come to is compared with what the same functions
// come to that await nothing. Prints how many are right, and how many calls there were of `thrown`.

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#define KEEP __attribute__((noinline))

static constexpr int threads = 3, tasks = 16, turns = 40;

struct Queue {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<std::coroutine_handle<>> handles;
    bool ends = false;

    void put(std::coroutine_handle<> handle) {
        std::lock_guard lock(mutex);
        handles.push_back(handle);
        filled.notify_one();
    }
    void end() {
        std::lock_guard lock(mutex);
        ends = true;
        filled.notify_all();
    }
    void run() {
        for (std::unique_lock lock(mutex);;) {
            filled.wait(lock, [&] { return ends || !handles.empty(); });
            if (handles.empty()) return;
            auto handle = handles.front();
            handles.pop_front();
            lock.unlock();
            handle.resume();
            lock.lock();
        }
    }
};
static Queue queues[threads];
static thread_local int here;
KEEP static int next_thread() {
    __asm__ volatile("");
    return (here + 1) % threads;
}

// Suspends, and goes on in the next thread.
struct Move {
    bool await_ready() { return false; }
    KEEP void await_suspend(std::coroutine_handle<> handle) { queues[next_thread()].put(handle); }
    void await_resume() {}
};

// A coroutine that begins when it is awaited, and whose end goes on with who awaits it.
struct Task {
    struct promise_type {
        unsigned long value = 0;
        std::exception_ptr error;
        std::coroutine_handle<> awaiting = std::noop_coroutine();

        Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        struct Final {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> handle) noexcept {
                return handle.promise().awaiting;
            }
            void await_resume() noexcept {}
        };
        Final final_suspend() noexcept { return {}; }
        void return_value(unsigned long number) { value = number; }
        void unhandled_exception() { error = std::current_exception(); }
    };

    std::coroutine_handle<promise_type> handle;

    explicit Task(std::coroutine_handle<promise_type> own) : handle(own) {}
    Task(Task &&other) : handle(std::exchange(other.handle, nullptr)) {}
    ~Task() {
        if (handle) handle.destroy();
    }
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
        handle.promise().awaiting = awaiting;
        return handle;
    }
    unsigned long await_resume() {
        if (handle.promise().error) std::rethrow_exception(handle.promise().error);
        return handle.promise().value;
    }
};

KEEP unsigned long leaf(unsigned long n) { return n * 2654435761u + 1; }
static std::atomic<int> right, done, throws;

KEEP unsigned long thrown(unsigned long n, int depth) {
    throws++;
    if (!depth) throw std::runtime_error("deep");
    return thrown(n, depth - 1) + leaf(n);
}

KEEP unsigned long plain(int level, unsigned long n) {
    if (!level) return leaf(n);
    unsigned long sum = plain(level - 1, leaf(n)) + leaf(n);
    if (level % 2) try {
            sum += thrown(n, level);
        } catch (const std::exception &) {
            sum ^= n;
        }
    return sum * 31 + leaf(sum);
}

Task walk(int level, unsigned long n) {
    co_await Move();
    if (!level) co_return leaf(n);
    unsigned long below = co_await walk(level - 1, leaf(n));
    unsigned long sum = below + leaf(n);
    if (level % 2) try {
            sum += thrown(n, level);
        } catch (const std::exception &) {
            sum ^= n;
        }
    co_await Move();
    co_return sum * 31 + leaf(sum);
}

Task fails(int level) {
    co_await Move();
    if (!level) throw std::runtime_error("awaited");
    co_return co_await fails(level - 1);
}

struct Detached {
    struct promise_type {
        Detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

Detached work(unsigned long number) {
    co_await Move();
    int wrong = 0;
    for (int turn = 0; turn < turns; turn++) {
        unsigned long sum = co_await walk(turn % 6, number + turn);
        wrong += sum != plain(turn % 6, number + turn);
        bool caught = false;
        try {
            co_await fails(turn % 4);
        } catch (const std::exception &) {
            caught = true;
        }
        wrong += !caught;
    }
    right += !wrong;
    if (++done == tasks)
        for (auto &queue : queues) queue.end();
}

int main() {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++)
        all.emplace_back([i] {
            here = i;
            queues[i].run();
        });
    for (unsigned long i = 0; i < tasks; i++) work(i);
    for (auto &thread : all) thread.join();
    printf("%d of %d right, %d thrown\n", right.load(), tasks, throws.load());
    return right == tasks ? 0 : 1;
}
