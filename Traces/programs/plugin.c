// A plugin for dlreopen.c: compiled once for each letter, so that two libraries of one layout differ in names alone.
// With SILENT, it calls nothing while it is loaded.

#include "program.h"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

APART static int JOIN(LETTER, _leaf)(int n) { return n + 1; }

#ifndef SILENT
__attribute__((constructor)) static void JOIN(LETTER, _load)(void) { JOIN(LETTER, _leaf)(1); }
__attribute__((destructor)) static void JOIN(LETTER, _unload)(void) { JOIN(LETTER, _leaf)(2); }
#endif

int plugin_run(int n);
int plugin_run(int n) { return JOIN(LETTER, _leaf)(n) + JOIN(LETTER, _leaf)(n); }
