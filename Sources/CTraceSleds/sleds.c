// Linked into every program and shared library that `fathom build --dormant` builds: what finds the product's sleds,
// and where these lead once they are open. A sled is a place of 11 bytes at a function's beginning, at each of its
// ends, and before each of its tail calls. Closed, it does nothing. Compilers list the sleds in the section
// xray_instr_map (LLVM, "XRay Instrumentation", https://llvm.org/docs/XRay.html).
//
// A note tells the runtime where that section is, and where the stubs are. A sled reaches 2 GB far and the runtime may
// lie farther, so sleds lead to stubs, which lie in the product's own code, and which the runtime writes when it opens
// the first sled (Sources/CTraceRuntime/session/sleds.c). As they are here, nothing ever comes to them.

#if defined(__x86_64__)

#define STUB ".balign 16, 0xcc\nud2\n.balign 16, 0xcc\n"
__asm__(".section .text.fathom_sleds, \"ax\", @progbits\n"
        ".balign 16, 0xcc\n"
        ".type fathom_stubs, %function\n"
        ".cfi_startproc\n"
        "fathom_stubs:\n"
        ".Lfathom_stubs:\n"  //
        STUB STUB STUB STUB STUB STUB STUB ".cfi_endproc\n"
        ".size fathom_stubs, . - fathom_stubs\n"
        ".text\n");

// An empty list, so that there is one in products whose functions have no sleds.
__asm__(".section xray_instr_map, \"ao\", @progbits, .Lfathom_stubs\n"
        ".text\n");

// Owner "FathomSleds", type 1: where the sleds begin, where they end, and where the stubs are, each from its own place;
// and how many stubs there are.
__asm__(".hidden __start_xray_instr_map\n"
        ".hidden __stop_xray_instr_map\n"
        ".pushsection .note.fathom.sleds, \"a\", %note\n"
        ".balign 4\n"
        ".long 12, 32, 1\n"
        ".asciz \"FathomSleds\"\n"
        ".balign 4\n"
        ".quad __start_xray_instr_map - .\n"
        ".quad __stop_xray_instr_map - .\n"
        ".quad .Lfathom_stubs - .\n"
        ".quad 7\n"
        ".popsection\n");

// A library that a recorded program loads tells so, before its other constructors run. Without the runtime, this does
// nothing.
__asm__(".section .text.fathom_sleds\n"
        ".weak fathom_note_sleds\n"
        ".type fathom_loaded, %function\n"
        ".balign 16\n"
        ".cfi_startproc\n"
        "fathom_loaded:\n"
        "endbr64\n"
        "movq fathom_note_sleds@GOTPCREL(%rip), %rax\n"
        "testq %rax, %rax\n"
        "je 1f\n"
        "jmp *%rax\n"
        "1: ret\n"
        ".cfi_endproc\n"
        ".size fathom_loaded, . - fathom_loaded\n"
        ".section .init_array.00001, \"aw\", %init_array\n"
        ".balign 8\n"
        ".quad fathom_loaded\n"
        ".text\n");

// Products keep what their other objects say about guarding jumps and returns (System V ABI, program property notes).
__asm__(".pushsection .note.gnu.property, \"a\"\n"
        ".balign 8\n"
        ".long 4, 16, 5\n"
        ".asciz \"GNU\"\n"
        ".long 0xc0000002, 4, 3, 0\n"
        ".popsection\n");

#else

// No compiler of the other architectures is asked for sleds.
__asm__(".text\n");

#endif
