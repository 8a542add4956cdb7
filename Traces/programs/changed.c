// Two builds to compare: with -DCHANGED one function is called more often, one is new and one is gone.
static volatile unsigned sink;

__attribute__((noinline)) static void steady(unsigned count) {
    for (unsigned i = 0; i < count; i++) sink += i;
}

#ifdef CHANGED
enum { rounds = 120 };
__attribute__((noinline)) static void added(void) { steady(100); }
#else
enum { rounds = 100 };
__attribute__((noinline)) static void removed(void) { steady(100); }
#endif

__attribute__((noinline)) static void repeated(void) { steady(10); }

int main(void) {
    for (int i = 0; i < rounds; i++) repeated();
#ifdef CHANGED
    added();
#else
    removed();
#endif
    return 0;
}
