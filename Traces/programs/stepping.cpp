// Unwinds the stack at each instruction, by a handler of the processor's single steps, and tells where main is not
// found.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <unwind.h>

#define KEEP __attribute__((noinline, noclone))
#define CODE(name, code)                                                                                               \
    extern "C" int name(int a, void *p);                                                                               \
    __asm__(".globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n.cfi_startproc\n" code              \
            "\n.cfi_endproc\n.size " #name ", .-" #name "\n")
#define ALIGNED(code) "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n" code "\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\nret"

CODE(leaf, "mov %edi, %eax\nret");
CODE(behind_branch, "test %edi, %edi\nje 1f\nmov (%rsi), %eax\nret\n1: mov $6, %eax\nret");
CODE(behind_two, "test %edi, %edi\nje 1f\njs 1f\nmov (%rsi), %eax\nret\n1: mov (%rsi), %eax\nret");
CODE(behind_push, "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\nxor %ebx, %ebx\nmov (%rsi), %eax\n"
                  "pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\nret");
CODE(by_memory, ALIGNED("call *(%rsi)"));
CODE(by_slot, "call *(%rsi)\nlea (%rax), %eax\nret");
CODE(direct, ALIGNED("call leaf"));
CODE(at_once, "call leaf\nret");
CODE(jumps, "jmp leaf");
CODE(far, "cmp $9, %edi\nja leaf\nmov %edi, %eax\nret");

static const char *first, *end;
static long steps, lost;

static _Unwind_Reason_Code handled_frame(_Unwind_Context *context, void *found) {
    uintptr_t at = _Unwind_GetIP(context);
    *static_cast<int *>(found) |= at >= reinterpret_cast<uintptr_t>(first) && at < reinterpret_cast<uintptr_t>(end);
    return _URC_NO_REASON;
}
static void handled(int) {
    int found = 0;
    steps++;
    _Unwind_Backtrace(handled_frame, &found);
    lost += !found;
}

KEEP int body() {
    int n = 3, sum = 0;
    int (*f)(int, void *) = leaf;
    for (int i = 0; i < 3; i++) {
        sum += behind_branch(i, &n) + behind_two(i, &n) + behind_push(i, &n) + by_memory(i, &f) + by_slot(i, &f);
        sum += direct(i, &n) + at_once(i, &n) + jumps(i, &n) + far(i * 5, &n);
    }
    return sum;
}

int main() {
    __asm__("lea main(%%rip), %0\nlea 9f(%%rip), %1" : "=r"(first), "=r"(end));
    body();
    signal(SIGTRAP, handled);
    __asm__ volatile("pushf; orq $0x100, (%%rsp); popf" : : : "memory", "cc");
    int sum = body();
    __asm__ volatile("pushf; andq $~0x100, (%%rsp); popf" : : : "memory", "cc");
    std::printf("%d %s %ld\n", sum, steps > 200 ? "stepped" : "ran", lost);
    __asm__ volatile("9:");
    return 0;
}
