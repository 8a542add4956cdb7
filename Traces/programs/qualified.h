// What qualified.cpp has from another file.

#include "program.h"

#include <cstddef>

namespace lib {
APART static long small(long number) { return number + 1; }
}

namespace box {
template <typename Item> struct Stack {
    std::size_t count = 0;
    APART void push_back(Item item) {
        lib::small(static_cast<long>(item));
        count++;
    }
};
}
