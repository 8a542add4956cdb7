// The same as C++, with new and delete.
#include "memory.c"
