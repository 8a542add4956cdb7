// A plugin for ready.c. Its constructor waits for a thread that calls a function which the runtime stands before; KIND
// says which. The program has not called it before.

#include <signal.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {
std::mutex lock;
std::condition_variable changed;
bool is_ready;

void call(const char *kind) {
    if (!strcmp(kind, "mask")) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
    }
    if (!strcmp(kind, "wait")) {
        std::unique_lock taken(lock);
        changed.wait_for(taken, std::chrono::milliseconds(2), [] { return false; });
    }
    if (!strcmp(kind, "sleep")) {
        timespec time{0, 1000000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
    }
    if (!strcmp(kind, "action")) {
        struct sigaction action {};
        sigaction(SIGUSR1, nullptr, &action);
    }
    if (!strcmp(kind, "map")) free(std::aligned_alloc(64, 640));
    if (!strcmp(kind, "throw")) try {
            throw 1;
        } catch (int) {
        }
}

__attribute__((constructor)) void load() {
    std::thread worker([] {
        call(getenv("KIND"));
        std::lock_guard taken(lock);
        is_ready = true;
        changed.notify_all();
    });
    {
        std::unique_lock taken(lock);
        changed.wait(taken, [] { return is_ready; });
    }
    worker.join();
}
}  // namespace

extern "C" int plugin_answer() { return 7; }
