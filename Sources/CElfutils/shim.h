#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/xattr.h>  // file capabilities; Swift's Glibc module leaves it out
