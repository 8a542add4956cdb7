// Traced code before main and after it: preinit_array, constructors of every priority, destructors likewise.

#include <string.h>

#include "program.h"

static char order[64];

APART static void note(char letter) { order[strlen(order)] = letter; }

static void preinit(int argc, char **argv, char **environment) {
    (void)argc, (void)argv, (void)environment;
    note('a');
}

__attribute__((section(".preinit_array"), used)) static void (*preinits[])(int, char **, char **) = {preinit};

__attribute__((constructor(101))) static void first(void) { note('b'); }
__attribute__((constructor(5000))) static void second(void) { note('c'); }
__attribute__((constructor)) static void third(void) { note('d'); }

__attribute__((destructor)) static void third_end(void) { note('f'); }
__attribute__((destructor(5000))) static void second_end(void) { note('g'); }
__attribute__((destructor(101))) static void first_end(void) {
    note('h');
    puts(order);
    fflush(stdout);
}

int main(void) { note('e'); }
