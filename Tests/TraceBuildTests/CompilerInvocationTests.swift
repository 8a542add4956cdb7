import TestSupport
import Testing

@testable import TraceBuild

/// What a compiler's command line says.
@Suite struct CompilerInvocationTests {
    @Test(arguments: [
        ("-c a.c", CompilerInvocation.Stage.object), ("-S a.c -o -", .assembly), ("a.c b.o -o app", .link),
        ("-E a.c", .nothing), ("-MM a.c", .nothing), ("-c -fsyntax-only a.c", .nothing), ("--version", .nothing),
        ("-print-search-dirs", .nothing), ("-dumpmachine", .nothing), ("-v -c a.c", .object),
        ("-x c -c - -o a.o", .object),
    ])
    func stages(_ line: String, _ stage: CompilerInvocation.Stage) {
        #expect(CompilerInvocation(line.split(separator: " ").map(String.init)).stage == stage)
    }

    @Test func files() {
        let line =
            "-Iinc -I inc2.c -D a.c -include pre.c main.cc util.C low.s start.S lib.a x.o -lm -o out.o -Wl,-z,now -MF d.c"
        let invocation = CompilerInvocation(line.split(separator: " ").map(String.init))
        #expect(invocation.sources == ["main.cc", "util.C"])
        #expect(invocation.objects == ["lib.a", "x.o"])
        #expect(invocation.assembly == ["low.s", "start.S"])
        #expect(invocation.output == "out.o")
    }

    @Test(arguments: [
        ("a.o -o app", nil), ("-c -static a.c", nil), ("-static a.o", CompilerInvocation.Product.staticProgram),
        ("a.c -static-pie", .staticProgram), ("-static-libgcc a.o", nil), ("-static -r a.o", nil),
        ("-static -nostdlib a.o", nil), ("-static a.o libfathom.a", nil), ("-static -l:libfathom.a a.o", nil),
        ("-static -finstrument-functions a.c", nil), ("-shared a.o", .sharedLibrary),
        ("-shared -static a.o", .sharedLibrary), ("-shared a.o -lfathom", nil),
    ])
    func products(_ line: String, _ product: CompilerInvocation.Product?) {
        #expect(CompilerInvocation(line.split(separator: " ").map(String.init)).product == product)
    }

    @Test func machines() throws {
        let gcc = Compiler(path: try #require(Compiler.find("gcc")), family: .gcc)
        #expect(gcc.isForThisMachine(["-static", "a.o"]) && !gcc.isForThisMachine(["-m32"]))
        let clang = Compiler(path: try #require(Compiler.find("clang")), family: .clang)
        #expect(clang.isForThisMachine(["a.o"]))
        for target in [
            ["--target=riscv64-linux-gnu"], ["-target", "x86_64-linux-musl"], ["-target", "i386-linux-gnu"],
        ] {
            #expect(!clang.isForThisMachine(["a.o"] + target))
        }
    }

    @Test(arguments: [
        ("-O2 a.c", nil, nil), ("-finstrument-functions a.c", "-finstrument-functions", "-finstrument-functions"),
        ("-finstrument-functions -fno-instrument-functions a.c", nil, nil),
        ("-finstrument-functions-exclude-file-list=x a.c", nil, nil), ("-pg a.c", "-pg", nil),
    ])
    func hooksOfItsOwn(_ line: String, _ gcc: String?, _ clang: String?) {
        let invocation = CompilerInvocation(line.split(separator: " ").map(String.init))
        #expect(invocation.hooksOfItsOwn(.gcc) == gcc && invocation.hooksOfItsOwn(.clang) == clang)
    }

    @Test func languages() {
        #expect(CompilerInvocation(["-x", "c++", "-c", "text.txt"]).sources == ["text.txt"])
        #expect(CompilerInvocation(["-xassembler-with-cpp", "-c", "low.c"]).sources == [])
        #expect(CompilerInvocation(["-c", "-"]).sources == ["-"])
        let mixed = CompilerInvocation(
            "a.c -x assembler t -x c++ b -x none c.c d.s".split(separator: " ").map(String.init))
        #expect(mixed.sources == ["a.c", "b", "c.c"] && mixed.assembly == ["t", "d.s"])
        #expect(mixed.languages == ["t": "assembler", "b": "c++"])
        #expect(CompilerInvocation(["-ffreestanding", "-c", "a.c"]).isFreestanding)
    }

    /// gcc's manual, "Overall Options": words as in a shell, files within files.
    @Test func responseFiles() throws {
        let directory = try TemporaryDirectory("response")
        let inner = try directory.write("'b c.c'\n-o\t\"out put\"", to: "inner")
        let outer = try directory.write("-c a\\ b.c @\(inner)\n@missing.rsp", to: "outer")
        let invocation = CompilerInvocation(["@\(outer)", "-g"])
        #expect(invocation.arguments == ["-c", "a b.c", "b c.c", "-o", "out put", "@missing.rsp", "-g"])
        #expect(invocation.sources == ["a b.c", "b c.c"])
        #expect(invocation.output == "out put")
    }

    @Test(arguments: [
        ("gcc", "gcc"), ("x86_64-linux-gnu-g++-12", "g++"), ("clang-21", "clang"), ("clang++", "clang++"),
        ("c++", "c++"),
        ("gcc-4.9", "gcc"), ("colorgcc", nil), ("colour-gcc", nil), ("gccgo", nil), ("gcc-ar", nil), ("ccache", nil),
        ("clang-format", nil), ("clang-cl", nil),
    ])
    func names(_ name: String, _ base: String?) { #expect(CompilerName.base(of: name) == base) }
}
