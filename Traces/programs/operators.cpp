// Allocates by the operators that C++ has, once each, and frees all but one block.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "program.h"

void *by_other(unsigned long size);

APART static void by_new() { ::operator delete(::operator new(100)); }
APART static void by_array() { ::operator delete[](::operator new[](200), 200ul); }
APART static void by_nothrow() {
    ::operator delete(::operator new(100, std::nothrow), std::nothrow);
    ::operator delete[](::operator new[](200, std::nothrow), std::nothrow);
}
APART static void by_aligned() {
    ::operator delete(::operator new(2048, std::align_val_t(256)), std::align_val_t(256));
    ::operator delete[](::operator new[](2048, std::align_val_t(256), std::nothrow), std::align_val_t(256));
}
APART static void by_pointer() {
    void *(*allocates)(std::size_t) = ::operator new;
    void (*frees)(void *) = ::operator delete;
    __asm__("" : "+r"(allocates), "+r"(frees));
    frees(allocates(500));
}
APART static void by_library() { ::operator delete(by_other(600), 600ul); }
APART static void by_kept() { KEEP(::operator new(700)); }
// Its memory is allocated within the C++ library.
APART static void by_string() {
    std::string text(800, 'x');
    KEEP(text.data());
}
APART static void by_malloc() {
    for (int i = 0; i < 900; i++) {
        void *block = std::malloc(1000);
        KEEP(block);
        std::free(block);
    }
}
APART static void by_others() {
    void *blocks[4] = {std::calloc(10, 100), std::realloc(nullptr, 1000), std::aligned_alloc(64, 1024), nullptr};
    if (posix_memalign(&blocks[3], 64, 976)) std::abort();
    KEEP(blocks[0]);
    blocks[1] = std::realloc(blocks[1], 1000);
    for (void *block : blocks) std::free(block);
}

int main() {
    by_new(), by_array(), by_nothrow(), by_aligned(), by_pointer(), by_library(), by_kept(), by_string(), by_malloc(),
        by_others();
    std::puts("done");
}
