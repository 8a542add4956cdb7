import TestSupport
import Testing
import TraceSymbols

@Suite struct ModuleSymbolsTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("symbols with spaces") }

    static let cBuilds = [
        Build(.gcc, "-O0 -g"), Build(.gcc, "-O2 -g"), Build(.gcc, "-O2 -g -no-pie"), Build(.gcc, "-O2 -g -gdwarf-4"),
        Build(.gcc, "-O1 -g1"), Build(.gcc, "-O0 -g -gz=zlib"), Build(.gcc, "-O0 -g -shared -fPIC"),
        Build(.gcc, "-O2 -g -gsplit-dwarf"), Build(.gcc, "-O2 -gdwarf-4 -gsplit-dwarf"), Build(.gcc, "-O2 -g -static"),
        Build(.gcc, "-O2 -g -flto"),
        Build(.clang, "-O0 -g"), Build(.clang, "-O2 -g -pie -fPIE"), Build(.clang, "-O2 -g -no-pie"),
        Build(.clang, "-O2 -gdwarf-4"), Build(.clang, "-O1 -gline-tables-only"), Build(.clang, "-O0 -g -gsplit-dwarf"),
        Build(.clang, "-O0 -gdwarf-4 -gsplit-dwarf"),
        Build(.clang, "-O0 -g -fuse-ld=lld"), Build(.clang, "-O0 -g -gz=zlib"),
    ]

    @Test(arguments: ["-g", "-g1", "-g0"]) func linesAreKnownOrNot(_ flag: String) throws {
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: [flag], output: directory.file("program"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        #expect(symbols.hasLines == (flag != "-g0"))
        #expect(symbols.functions()?.contains { $0.file != nil } == symbols.hasLines)
        #expect(!ModuleSymbols(path: directory.file("none"), buildID: []).hasLines)
    }

    @Test(arguments: cBuilds) func functionsOfC(_ build: Build) throws {
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: build.compiler, flags: build.flags,
            output: directory.file("program"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        #expect(symbols.problem == nil)
        let functions = try #require(symbols.functions())
        for name in ["local_one", "global_two", "main"] {
            let function = try #require(functions.first { $0.name == name })
            #expect(function.line == Programs.line(of: " \(name)(", in: Programs.c))
            #expect(function.file?.hasSuffix("/program.c") == true)
            #expect(function.isKnown)
        }
        try expectAgreement(symbols, path)
    }

    @Test(arguments: [
        Build(.gxx, "-O0 -g"), Build(.gxx, "-O1 -g"), Build(.gxx, "-O0 -g -gdwarf-4"), Build(.clangxx, "-O0 -g"),
        Build(.clangxx, "-O1 -g"),
    ])
    func functionsOfCXX(_ build: Build) throws {
        let path = try Toolchain.compile(
            sources: ["program.cc": Programs.cxx], compiler: build.compiler, flags: build.flags,
            output: directory.file("program"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        let functions = try #require(symbols.functions())
        for (name, text) in [
            ("ns::Class<int>::method", "Class<T>::method"), ("ns::Class<double>::method", "Class<T>::method"),
            ("ns::(anonymous namespace)::hidden", "int hidden"), ("main::Local::go", "go(int"), ("Base::f", "f()"),
            ("main", "int main"),
        ] {
            let function = try #require(functions.first { $0.name == name }, "\(name)")
            #expect(function.line == Programs.line(of: text, in: Programs.cxx), "\(name)")
            #expect(function.file?.hasSuffix("/program.cc") == true)
        }
        let lambda = try #require(
            functions.first { ["main::{lambda(int)#1}", "main::$_0::operator()"].contains($0.name) })
        #expect(lambda.line == Programs.line(of: "auto lambda", in: Programs.cxx))
        #expect(functions.contains { $0.name.hasPrefix("text") })
        try expectAgreement(symbols, path)
    }

    /// Every function `nm` lists is found at its first and last byte, under one of the names for that address.
    private func expectAgreement(_ symbols: ModuleSymbols, _ path: String) throws {
        let listed = try ListedFunction.all(of: path)
        #expect(!listed.isEmpty)
        let names = Dictionary(grouping: listed, by: \.start)
        for function in listed where function.size > 0 {
            let first = symbols.symbol(at: function.start, lines: false)
            #expect(try #require(names[function.start]).contains { $0.name == first.linkageName }, "\(function.name)")
            let last = symbols.symbol(at: function.start + function.size - 1, lines: false)
            #expect(last.start >= function.start && last.isKnown, "\(function.name)")
        }
    }

    /// Found on a relative path, a header is one file wherever it is included.
    @Test(arguments: [
        Build(.gcc, "-O0 -g -I."), Build(.gcc, "-O0 -gdwarf-4 -I."), Build(.gcc, "-O0 -g -gsplit-dwarf -I."),
        Build(.clang, "-O0 -g -I."), Build(.clang, "-O0 -gdwarf-4 -I."),
    ])
    func relativeDirectories(_ build: Build) throws {
        let program = "#include <part.h>\nint main(int count, char **arguments) { return part(count); }\n"
        let path = try Toolchain.compile(
            sources: ["part.h": "static int part(int a) { return a; }\n", "program.c": program],
            compiler: build.compiler, flags: build.flags, output: directory.file("program"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        let part = try #require(symbols.functions()?.first { $0.name == "part" })
        #expect(part.file?.hasPrefix("/") == true && part.file?.hasSuffix("/part.h") == true)
        #expect(symbols.location(at: part.start)?.file == part.file)
    }

    @Test(arguments: [Build(.gcc, "-O0 -g"), Build(.clang, "-O0 -g"), Build(.gcc, "-O0 -g -gsplit-dwarf")])
    func locations(_ build: Build) throws {
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: build.compiler, flags: build.flags,
            output: directory.file("program"))
        let main = try #require(try ListedFunction.all(of: path).first { $0.name == "main" })
        let symbols = ModuleSymbols(path: path, buildID: [])
        let first = Programs.line(of: "int main", in: Programs.c)
        let lines = Set((main.start..<main.start + main.size).compactMap { symbols.location(at: $0)?.line })
        // The closing brace belongs to the function for gcc, not for clang.
        #expect(lines.subtracting([first + 4]) == Set(first...first + 3))
        #expect(symbols.location(at: main.start)?.file.hasSuffix("/program.c") == true)
        let start = try #require(try ListedFunction.all(of: path).first { $0.name == "_start" })
        #expect(symbols.location(at: start.start) == nil)
        #expect(symbols.location(at: 0) == nil)
        #expect(symbols.location(at: .max) == nil)
    }

    /// Neighbours from one line do not hide each other, and code without lines takes none from its neighbours.
    @Test(arguments: [Toolchain.Compiler.gcc, .clang]) func locationsOnOneLine(_ compiler: Toolchain.Compiler) throws {
        let source = "int one(int x) { return x; } int two(int x) { return -x; } int main(void) { return two(one(0)); }"
        let path = try Toolchain.compile(
            sources: ["line.c": source], compiler: compiler, flags: ["-g"], output: directory.file("line"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        for function in try ListedFunction.all(of: path) where function.size > 0 {
            let hasLine = ["one", "two", "main"].contains(function.name)
            for address in function.start..<function.start + function.size {
                #expect(symbols.location(at: address)?.line == (hasLine ? 1 : nil))
            }
        }
    }

    @Test func coldParts() throws {
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: ["-O2", "-g"], output: directory.file("program"))
        let functions = try #require(ModuleSymbols(path: path, buildID: []).functions())
        let cold = try #require(functions.first { $0.name == "global_two.cold" })
        #expect(cold.line == Programs.line(of: "int global_two", in: Programs.c))
        #expect(cold.linkageName == "global_two.cold")
    }

    @Test func withoutDebugInformation() throws {
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, output: directory.file("program"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        let function = try #require(symbols.functions()?.first { $0.name == "global_two" })
        #expect(function.file == nil && function.line == 0)
        #expect(symbols.location(at: function.start) == nil)
    }

    @Test func strippedLibraryKeepsItsExports() throws {
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: ["-O0", "-g", "-shared", "-fPIC"],
            output: directory.file("libprogram.so"))
        let local = try #require(try ListedFunction.all(of: path).first { $0.name == "local_one" })
        try run("strip", [path])
        let symbols = ModuleSymbols(path: path, buildID: [])
        #expect(symbols.functions()?.map(\.name).contains("global_two") == true)
        let unknown = symbols.symbol(at: local.start)
        #expect(!unknown.isKnown)
        #expect(unknown.name == "libprogram.so+0x\(String(local.start, radix: 16))")
        #expect(unknown.start == local.start)
    }

    @Test func problems() throws {
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c], compiler: .gcc, flags: ["-Wl,--build-id=0x0123456789"],
            output: directory.file("program"))
        #expect(ModuleSymbols(path: path, buildID: [0x01, 0x23, 0x45, 0x67, 0x89]).problem == nil)
        let rebuilt = ModuleSymbols(path: path, buildID: [1, 2, 3])
        #expect(rebuilt.problem == .rebuilt(path))
        #expect(rebuilt.functions() == nil)
        #expect(!rebuilt.symbol(at: 0x1234).isKnown)
        try run("strip", [path])
        #expect(ModuleSymbols(path: path, buildID: []).problem == .noSymbols(path))
        let missing = directory.file("missing")
        #expect(ModuleSymbols(path: missing, buildID: []).problem == .missing(missing))
        #expect(ModuleSymbols(path: missing, buildID: []).symbol(at: 16).name == "missing+0x10")
        let text = try directory.write("no program", to: "text")
        #expect(ModuleSymbols(path: text, buildID: []).problem == .unreadable(text, reason: "not an ELF file"))
        #expect(ModuleSymbols(path: directory.path, buildID: []).problem != nil)
    }

    @Test func choiceAmongAliases() throws {
        let source = """
            int work(int x) { return x; }
            int __work(int x) __attribute__((alias("work")));
            int a_weak(int x) __attribute__((weak, alias("work")));
            static int a_local(int x) __attribute__((alias("work"), used));
            static int (*resolve(void))(int) { return work; }
            int chosen(int x) __attribute__((ifunc("resolve")));
            int main(void) { return chosen(0) + a_local(0); }
            """
        let path = try Toolchain.compile(
            sources: ["alias.c": source], compiler: .gcc, output: directory.file("alias"))
        let functions = try #require(ModuleSymbols(path: path, buildID: []).functions())
        #expect(functions.contains { $0.name == "work" })
        #expect(!functions.contains { ["__work", "a_weak", "a_local"].contains($0.name) })
        #expect(functions.contains { ["chosen", "resolve"].contains($0.name) })
    }

    @Test func assembly() throws {
        let source = """
            .text
            .globl main, sized, bare, inner
            .type sized, @function
            sized:
            nop
            inside_label:
            nop
            .type inner, @function
            inner: nop
            .size inner, . - inner
            nop
            .size sized, . - sized
            nop
            .type bare, @function
            bare:
            nop
            nop
            .type main, @function
            main: ret
            .size main, . - main
            .section .note.GNU-stack,"",@progbits
            """
        let path = try Toolchain.compile(
            sources: ["code.s": source], compiler: .gcc, flags: ["-nostartfiles", "-Wl,-e,main"],
            output: directory.file("code"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        let start = try #require(symbols.functions()?.first { $0.name == "sized" }).start
        let expected = ["sized", "sized", "inner", "sized", nil, "bare", "bare", "main", nil]
        for (offset, name) in expected.enumerated() {
            let symbol = symbols.symbol(at: start + UInt64(offset))
            #expect(symbol.isKnown == (name != nil))
            if let name { #expect(symbol.name == name) }
        }
        #expect(!symbols.symbol(at: start - 1).isKnown)
    }

    @Test func functionsOfSwift() throws {
        let source = """
            struct Counter {
                var count = 0

                @inline(never)
                mutating func advance(by step: Int) { count += step }
            }

            var counter = Counter()
            counter.advance(by: CommandLine.arguments.count)
            """
        let path = try Toolchain.compile(
            sources: ["main.swift": source], compiler: .swiftc, flags: ["-g", "-Onone", "-module-name", "demo"],
            output: directory.file("demo"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        let function = try #require(symbols.functions()?.first { $0.name == "Counter.advance(by:)" })
        #expect(function.line == 5)
        #expect(function.file?.hasSuffix("/main.swift") == true)
        #expect(symbols.symbol(at: function.start + 4) == function)
        #expect(symbols.location(at: function.start)?.file.hasSuffix("/main.swift") == true)
        let raw = ModuleSymbols(path: path, buildID: [], rawNames: true).symbol(at: function.start)
        #expect(raw.name == "demo.Counter.advance(by: Swift.Int) -> ()" && raw.identity == nil)
    }

    /// A thunk that calls what it stands for is the compiler's; one that holds it stands for it.
    @Test func thunksOfSwift() throws {
        let source = """
            protocol Shape {
                func called() -> Int
                func held() -> Int
                func looked() -> Int
            }
            class Square: Shape {
                var side = CommandLine.arguments.count
                @inline(never) final func called() -> Int { side &* 3 }
                @inline(__always) final func held() -> Int { side &* 5 }
                @inline(never) func looked() -> Int { side &* 7 }
            }
            final class Small: Square {
                override func looked() -> Int { side }
            }
            @inline(never) func all(_ shape: any Shape) -> Int { shape.called() &+ shape.held() &+ shape.looked() }
            print(all(CommandLine.arguments.count > 5 ? Small() : Square()))
            """
        let path = try Toolchain.compile(
            sources: ["main.swift": source], compiler: .swiftc, flags: ["-g", "-O", "-module-name", "demo"],
            output: directory.file("demo"))
        let symbols = ModuleSymbols(path: path, buildID: [])
        let functions = try #require(symbols.functions())
        #expect(symbols.hasSwiftCode)
        for (name, isCompilerMade) in [("called()", true), ("held()", false), ("looked()", true)] {
            let witness = functions.first { $0.name == "Square.\(name)" && $0.linkageName.hasSuffix("TW") }
            #expect(witness?.isCompilerMade == isCompilerMade, Comment(rawValue: name))
            #expect((symbols.identity(at: witness?.start ?? 0) == nil) == isCompilerMade)
        }
        #expect(functions.contains { $0.name == "Square.called()" && !$0.isCompilerMade })
        #expect(functions.contains { $0.linkageName.hasSuffix("Ma") && $0.isCompilerMade })
        // A function without a symbol is the compiler's, unless all symbols are gone.
        let outside = (functions.first?.start ?? 1) - 1
        #expect(symbols.symbol(at: outside).isCompilerMade)
        try run("strip", [path])
        #expect(!ModuleSymbols(path: path, buildID: []).symbol(at: outside).isCompilerMade)
    }

    @Test(.enabled(if: Toolchain.Compiler.rustc.isInstalled)) func functionsOfRust() throws {
        let source = """
            struct Pair<T>(T, T);
            impl<T: Copy + std::ops::Add<Output = T>> Pair<T> {
                #[inline(never)]
                fn sum(&self) -> T { self.0 + self.1 }
            }
            fn main() { std::process::exit(Pair(1i32, -1i32).sum()); }
            """
        let path = try Toolchain.compile(
            sources: ["demo.rs": source], compiler: .rustc, flags: ["-g"], output: directory.file("demo"))
        let functions = try #require(ModuleSymbols(path: path, buildID: []).functions())
        let sum = try #require(functions.first { $0.name.hasSuffix("::sum") && $0.name.contains("demo::Pair") })
        #expect(sum.line == 4)
        #expect(functions.contains { $0.name == "demo::main" })
        #expect(!functions.contains { $0.name.hasPrefix("_RNv") || $0.name.hasPrefix("_ZN") })
    }
}
