#if arch(x86_64)
    extension DetourControlTests {
        /// Exceptions pass through functions of the program, and through one of the C library.
        static let throwing = """
            #include <cstdio>
            #include <cstdlib>
            #include <stdexcept>
            #define KEEP __attribute__((noinline))
            KEEP int deeper(int n) {
                if (n == 0) throw std::runtime_error("deep");
                return deeper(n - 1) + 1;
            }
            extern "C" KEEP int compare(const void *a, const void *b) {
                if (*static_cast<const int *>(a) == 13) throw 13;
                return *static_cast<const int *>(a) - *static_cast<const int *>(b);
            }
            KEEP int sorts() {
                int numbers[] = {13, 3, 2};
                qsort(numbers, 3, sizeof *numbers, compare);
                return numbers[0];
            }
            int main(int count, char **) {
                int caught = 0;
                if (count < 3) try { sorts(); } catch (int n) { caught += n; }
                try { deeper(5); } catch (const std::exception &) { caught += 1; }
                printf("%d\\n", caught);
            }
            """

        /// gcc sees which registers `mixed` changes, and keeps values in others while it is called, though the ABI says that any of these
        /// may change (-fipa-ra).
        static let relying = """
            #include <stdio.h>
            __attribute__((noinline, noclone)) static unsigned long mixed(unsigned long n) { return n * 3 + 1; }
            int main(void) {
                unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;
                // In memory, so that this ends whatever becomes of registers.
                for (volatile unsigned long n = 0; n < 1000; n++) {
                    unsigned long m = mixed(n);
                    a += m, b ^= a, c += b, d ^= c, e += d, f ^= e, g += f, h ^= g, i += h, j ^= i, k += j, l ^= k;
                }
                printf("%lu\\n", a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l);
                return 3;
            }
            """

        /// The kernel jumps to `begin`: where a call puts its return address lies the number of arguments.
        static let entered = """
            #include <stdio.h>
            #include <stdlib.h>
            __asm__(".globl begin\\n.type begin, @function\\nbegin:\\n.cfi_startproc\\n" TABLE
                    "mov %rsp, %rdi\\nand $-16, %rsp\\ncall run\\nhlt\\n.cfi_endproc\\n.size begin, . - begin\\n");
            __attribute__((used)) static void run(const long *stack) {
                printf("%ld\\n", stack[0]);
                exit(3);
            }
            """

        /// `leaves` returns by a register, and what lies where a call puts its return address is its caller's.
        static let returning = """
            #include <stdio.h>
            __asm__(".globl leaves\\n.type leaves, @function\\nleaves:\\n.cfi_startproc\\n" TABLE
                    "mov $5, %eax\\nlea 1(%rax), %rax\\njmp *%r8\\n.cfi_endproc\\n.size leaves, . - leaves\\n");
            __attribute__((noinline, noclone)) long uses(long n) {
                long kept;
                __asm__ volatile("sub $128, %%rsp\\npush %1\\nlea 1f(%%rip), %%r8\\njmp leaves\\n"
                                 "1: pop %0\\nadd %%rax, %0\\nadd $128, %%rsp"
                                 : "=&r"(kept) : "r"(n) : "rax", "r8", "memory");
                return kept;
            }
            int main(void) {
                long sum = 0;
                for (long i = 0; i < 10; i++) sum += uses(i);
                printf("%ld\\n", sum);
                return 3;
            }
            """
    }
#endif
