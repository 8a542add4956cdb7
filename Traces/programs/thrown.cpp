// A call that takes 300 ms and ends by an exception, or, with an argument, by a jump.

#include <csetjmp>
#include <ctime>

#include "program.h"

static std::jmp_buf place;

APART static void wait_for_disk() {
    timespec time = {0, 300000000};
    nanosleep(&time, nullptr);
}

APART static void handle(bool jumps) {
    wait_for_disk();
    if (jumps) std::longjmp(place, 1);
    throw 1;
}

int main(int argc, char **) {
    if (setjmp(place)) return 0;
    try {
        handle(argc > 1);
    } catch (int) {
    }
    return 0;
}
