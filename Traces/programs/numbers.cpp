// A generator of C++20: what it does between two values is a part of its own.

#include <coroutine>
#include <cstdio>

struct task {
    struct promise_type {
        int value = 0;
        task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) {
            value = v;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
__attribute__((noinline)) int twice(int n) { return 2 * n; }
task numbers(int n) {
    for (int i = 0; i < n; i++) co_yield twice(i);
}
int main() {
    task t = numbers(3);
    int sum = 0;
    while (t.handle.resume(), !t.handle.done()) sum += t.handle.promise().value;
    t.handle.destroy();
    std::printf("%d\n", sum);
}
