// A library that calls functions of its own as soon as it is loaded.

static int calls;

__attribute__((noipa)) int library_early(int x) { return x + ++calls; }
__attribute__((constructor)) static void library_begins(void) { library_early(1); }
__attribute__((noipa)) int library_call(int x) { return library_early(x) + 10; }
__attribute__((noipa)) int library_unused(int x) { return x; }
