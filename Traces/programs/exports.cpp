// What exports have to keep apart and together: functions of one name in two files, overloads, templates, lambdas,
// recursion, exceptions that leave several frames, and all of it in several threads. The calls are the same in every
// run.

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "exports.h"

static volatile long sink;

static long helper(long number) { return number * 3; }

static long scale(int number) { return helper(number); }
static long scale(double number) { return helper(static_cast<long>(number)); }

template <typename Number> static long twice(Number number) { return scale(number) + scale(number); }

struct Shape {
    virtual ~Shape() = default;
    virtual long area() const = 0;
    long operator()(long factor) const { return area() * factor; }
};
struct Square : Shape {
    explicit Square(long side) : side(side) {}
    long area() const override { return helper(side * side); }
    long side;
};

static long countdown(long number) { return number == 0 ? 0 : 1 + countdown(number - 1); }

static void fall(int frames) {
    if (frames == 0) throw std::runtime_error("thrown");
    fall(frames - 1);
    sink = sink + 1;
}

static long work(int rounds) {
    long sum = 0;
    auto add = [&sum](long number) { sum += helper(number); };
    for (int round = 0; round < rounds; round++) {
        add(twice(round) + twice(round * 0.5));
        add(Square(round)(2));
        add(countdown(round % 20) + other_file(round));
        try {
            fall(round % 7);
        } catch (const std::runtime_error &) {
            add(1);
        }
    }
    return sum;
}

int main() {
    std::vector<std::thread> threads;
    for (int index = 0; index < 4; index++) {
        threads.emplace_back([index] { sink = work(100 + 50 * index); });
    }
    for (auto &thread : threads) thread.join();
}
