// Calls the hooks itself, with call sites at every distance behind the caller's function at which their record changes.

#include <stdint.h>
#include <stdio.h>

void __cyg_profile_func_enter(void *, void *);
void __cyg_profile_func_exit(void *, void *);

int main(void) {
    static char code[0x20000];
    char *elsewhere = code + 0x18000;
    for (long distance = 0xfffd; distance <= 0x10001; distance++) {
        __cyg_profile_func_enter(code, elsewhere);
        __cyg_profile_func_enter(code + 16, code + distance);
        __cyg_profile_func_enter(code + 32, code + distance);
        __cyg_profile_func_exit(code + 32, code + distance);
        __cyg_profile_func_exit(code + 16, code + distance);
        __cyg_profile_func_exit(code, elsewhere);
        printf("%p\n%p\n%p\n", elsewhere, code + distance, code + distance);
    }
}
