// A coroutine that goes on in another one (symmetric transfer): gcc 12 ends with an internal error for it where it
// calls hooks.
#include <coroutine>
#include <exception>
struct Task {
    struct promise_type {
        unsigned value = 0;
        std::exception_ptr error;
        Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        struct Final {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type>) noexcept {
                return std::noop_coroutine();
            }
            void await_resume() noexcept {}
        };
        Final final_suspend() noexcept { return {}; }
        void return_value(unsigned v) { value = v; }
        void unhandled_exception() { error = std::current_exception(); }
    };
    std::coroutine_handle<promise_type> handle;
    ~Task() { handle.destroy(); }
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) { return handle; }
    unsigned await_resume() { return handle.promise().value; }
};
static Task f(unsigned n) {
    unsigned sum = n;
    if (n) sum += co_await f(n - 1);
    co_return sum;
}
int main(int argc, char **) { f((unsigned)argc).handle.resume(); }
