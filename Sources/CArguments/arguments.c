#include "CArguments.h"

#include <sys/auxv.h>

// Swift's library has this function. It sets what `CommandLine` will say. Without it, the library reads /proc, or looks
// behind the environment for the arguments; where there is no /proc, or a preloaded library has moved the environment,
// it finds none.
void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

__attribute__((constructor)) static void tell_arguments(int count, char **arguments) {
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
}

const char *fathom_executed_path(void) { return (const char *)getauxval(AT_EXECFN); }
