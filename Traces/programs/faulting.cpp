// Handlers of synchronous signals throw, through functions whose first instructions fault.
#include <csignal>
#include <cstdio>

#define KEEP __attribute__((noinline, noclone))
#define CODE(name, code)                                                                                               \
    extern "C" int name(int a, int *p);                                                                                \
    __asm__(".globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n.cfi_startproc\n" code              \
            "\n.cfi_endproc\n.size " #name ", .-" #name "\n")

static int destroyed;
struct Object {
    int n;
    KEEP ~Object() { destroyed += n; }
};

KEEP int reads(int *p) { return *p + 1; }
KEEP int divides(int a, int b) { return a / b; }
KEEP int guarded(int *p) {
    try {
        return *p;
    } catch (int signal) {
        return -signal;
    }
}
KEEP int branches(int a, int *p) { return a ? *p : 7; }
KEEP int keeps(int *p, int *q) {
    int n = *p;
    reads(q);
    return n;
}
KEEP int guards(int (**f)(int)) {
    try {
        return (*f)(3) + 1;
    } catch (int signal) {
        return -signal - 100;
    }
}
CODE(behind_branch, "test %edi, %edi\nje 1f\nmov (%rsi), %eax\nret\n1: mov $6, %eax\nret");
CODE(behind_two, "test %edi, %edi\nje 1f\njs 1f\nmov (%rsi), %eax\nret\n1: mov (%rsi), %eax\nret");
CODE(behind_push, "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\nxor %ebx, %ebx\nmov (%rsi), %eax\n"
                  "pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\nret");
CODE(by_memory, "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall *(%rsi)\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\nret");
CODE(by_slot, "call *(%rsi)\nret");

KEEP int once(int what, int *p) {
    Object object{what};
    switch (what) {
    case 0: return reads(p);
    case 1: return divides(what, 0);
    case 2: return guarded(p);
    case 3: return branches(what, p);
    case 4: return keeps(p, p);
    case 5: return guards(reinterpret_cast<int (**)(int)>(p));
    case 6: return behind_branch(what, p);
    case 7: return behind_two(what, p);
    case 8: return behind_push(what, p);
    case 9: return by_memory(what, p);
    default: return by_slot(what, p);
    }
}

static void thrown(int signal) { throw signal; }

int main() {
    struct sigaction action = {};
    action.sa_handler = thrown;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGFPE, &action, nullptr);
    int n = 5, sum = 0;
    for (int i = 0; i < 220; i++) {
        try {
            sum += once(i % 11, nullptr);
        } catch (int signal) {
            sum += signal * (i % 11 + 1);
        }
        sum += reads(&n) + divides(i, n) + guarded(&n) + branches(i % 2, &n) + keeps(&n, &n);
        sum += behind_branch(i % 2, &n) + behind_two(i % 2, &n) + behind_push(i, &n);
    }
    std::printf("%d %d\n", sum, destroyed);
    return 0;
}
