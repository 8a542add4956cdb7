// Names that readers of exports may take for something else: templates that differ in their arguments alone, letters
// beyond ASCII, words of digits, and names of 12 KB. Two threads of other names do the same.

#include <pthread.h>

#include <initializer_list>
#include <thread>
#include <utility>

static volatile long sink;

template <typename Number> struct Box {
    Number number;
    Number get() const { return number; }
};

template <int size> struct Row {
    // In a way that gives a function for each size.
    static long sum() { return size + Row<size - 1>::sum(); }
};
template <> struct Row<0> {
    static long sum() { return 0; }
};

long größe(long number) { return number + 1; }
namespace 長さ {
long 测量(long number) { return größe(number) * 2; }
}
long operator""_kilo(unsigned long long number) { return static_cast<long>(number) * 1000; }

struct AClassWhoseNameIsAHundredLettersLongSoThatAFewOfThemInAListOfTemplateArgumentsMakeANameOfManyKilobytes {};
using Long = AClassWhoseNameIsAHundredLettersLongSoThatAFewOfThemInAListOfTemplateArgumentsMakeANameOfManyKilobytes;
template <typename... Types> struct List {
    static long count() { return sizeof...(Types); }
};
template <typename... Types> struct Six : List<Types..., Types..., Types..., Types..., Types..., Types...> {};

// The mangled name has 12 KB as well, which the C++ library's demangler does not read.
template <int... numbers> static long add(std::integer_sequence<int, numbers...>) { return sizeof...(numbers); }

static long work() {
    long sum = add(std::make_integer_sequence<int, 2000>());
    sum += Row<30>::sum() + 3_kilo;
    for (int round = 0; round < 500; round++) {
        sum += Box<int>{round}.get();
        if (round % 3 == 0) sum += static_cast<long>(Box<double>{1.5}.get());
        sum += 長さ::测量(round);
        sum += Six<Long, Long, Long, Long, Long, Long, Long, Long, Long, Long, Long, Long, Long, Long, Long, Long, Long,
                   Long, Long, Long>::count();
    }
    return sum;
}

int main() {
    for (int round = 0; round < 4; round++) sink = sink + work();
    for (const char *name : {"größer", "second 2"}) {
        std::thread([name] {
            pthread_setname_np(pthread_self(), name);
            sink = sink + work();
        }).join();
    }
}
