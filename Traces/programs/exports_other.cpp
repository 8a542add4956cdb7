// The second file of exports.cpp.

#include "exports.h"

static long helper(long number) { return number % 10; }

// This helper calls nothing, but it runs inside a function that the other file's helpers do not call.
long other_file(long number) { return helper(number) + helper(number + 1); }
