// A plugin for ready.c that throws. It has its own C++ library, and needs the unwinder's.

__attribute__((noinline)) static void thrown(int number) { throw number; }

extern "C" int plugin_answer() {
    try {
        thrown(7);
    } catch (int number) {
        return number;
    }
    return 0;
}
