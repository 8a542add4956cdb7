// A library with an initialiser, for a start with many of them.

static int state;

__attribute__((constructor)) static void begin_part(void) { state = 1; }

int PART(void) { return state; }
