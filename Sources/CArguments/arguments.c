#include "CArguments.h"

#include <sys/auxv.h>

// Of Swift's library: what `CommandLine` is to say. Left to itself it reads /proc, or looks behind the environment for
// the arguments; where there is no /proc, or a preloaded library has moved the environment, it finds none.
void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

__attribute__((constructor)) static void tell_arguments(int count, char **arguments) {
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
}

const char *fathom_executed_path(void) { return (const char *)getauxval(AT_EXECFN); }
