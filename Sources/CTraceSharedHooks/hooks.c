// Linked into every shared library of C and C++ that `fathom build` instruments: what gcc's and clang's hooks come to.
// They are hidden in the library, so checks of the symbols that it exports or needs find none of the compiler's hooks
// (PostgreSQL's libpq must need nothing with "exit" in its name), and the library runs anywhere: where the runtime is
// not loaded, they do nothing.
//
// A hook jumps to the runtime's (Sources/CTraceRuntime/entry/hooks.c), which finds the function's own stack pointer and
// return address. It is in assembler, because compilers add frames to C.

#if defined(__x86_64__)
#define JUMP_IF_THERE(target)                                                                                          \
    "endbr64\n"                                                                                                        \
    "mov " target "@GOTPCREL(%rip), %rax\n"                                                                            \
    "test %rax, %rax\n"                                                                                                \
    "je 1f\n"                                                                                                          \
    "jmp *%rax\n"                                                                                                      \
    "1: ret\n"
#define FEATURES "0xc0000002"
#elif defined(__aarch64__)
#define JUMP_IF_THERE(target)                                                                                          \
    "hint #34\n"                                                                                                       \
    "adrp x16, :got:" target "\n"                                                                                      \
    "ldr x17, [x16, :got_lo12:" target "]\n"                                                                           \
    "cbz x17, 1f\n"                                                                                                    \
    "br x17\n"                                                                                                         \
    "1: ret\n"
#define FEATURES "0xc0000000"
#endif

// clang-format off
#define HOOK(name, target)                                                                                             \
    __asm__(".text\n"                                                                                                  \
            ".weak " target "\n"                                                                                       \
            ".weak " name "\n"                                                                                         \
            ".hidden " name "\n"                                                                                       \
            ".type " name ", %function\n"                                                                              \
            ".balign 16\n"                                                                                             \
            name ":\n"                                                                                                 \
            ".cfi_startproc\n"                                                                                         \
            JUMP_IF_THERE(target)                                                                                      \
            ".cfi_endproc\n"                                                                                           \
            ".size " name ", . - " name "\n")
// clang-format on

HOOK("__cyg_profile_func_enter", "fathom_function_enter");
HOOK("__cyg_profile_func_exit", "fathom_function_leave");

// A library keeps what its other objects say about guarding jumps and returns: indirect branch tracking and shadow
// stacks, or branch targets and pointer authentication (System V ABI, program property notes).
__asm__(".pushsection .note.gnu.property, \"a\"\n"
        ".balign 8\n"
        ".long 4, 16, 5\n"
        ".asciz \"GNU\"\n"
        ".long " FEATURES ", 4, 3, 0\n"
        ".popsection\n");
