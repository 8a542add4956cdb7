// Calls a function many times on a stack of its own, of as many bytes as the first argument says, above a page that
// cannot be read.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define KEEP __attribute__((noinline, noclone))

KEEP int leaf(int n) { return n * 3 + 1; }

static unsigned sum;
__attribute__((used)) static void body(int calls) {
    for (int i = 0; i < calls; i++) sum += (unsigned)leaf(i);
}

void on_stack(char *top, int calls);
__asm__(".globl on_stack\n.type on_stack, @function\non_stack:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nmov %rdi, %rsp\nmov %esi, %edi\ncall body\n"
        "mov %rbp, %rsp\npop %rbp\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n.size on_stack, .-on_stack\n");

int main(int count, char **arguments) {
    enum { PAGE = 4096, ROOM = 65536 };
    if (count < 2) return 1;
    char *memory = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, PAGE, PROT_NONE)) return 1;
    body(10);
    on_stack(memory + PAGE + atoi(arguments[1]), 400000);
    printf("%u\n", sum);
    return 0;
}
