import TestSupport
import Testing
import TraceSymbols

@Suite struct ExecutableInspectionTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("inspected programs") }

    private func build(_ build: Build, source: String = Programs.c, libraries: [String] = []) throws -> String {
        try Toolchain.compile(
            sources: ["program.c": source], compiler: build.compiler, flags: build.flags, libraries: libraries,
            output: directory.file("program"))
    }

    private static let work = "int work(void) { return 1; }"

    private func library(_ name: String, source: String = work, flags: [String] = []) throws {
        try Toolchain.compile(
            sources: ["work.c": source], compiler: .gcc, flags: ["-shared", "-fPIC"] + flags,
            output: directory.file(name))
    }

    @Test(arguments: [
        Build(.gcc, "-finstrument-functions"), Build(.gcc, "-finstrument-functions -no-pie -O2"),
        Build(.clang, "-finstrument-functions -pie -fPIE"), Build(.clang, "-finstrument-functions-after-inlining"),
    ])
    func instrumented(_ how: Build) throws {
        let path = try build(how)
        let inspection = try ExecutableInspection.inspect(path: path)
        #expect(inspection.kind == .elfDynamic)
        #expect(inspection.is64Bit && inspection.matchesHost && inspection.isInstrumented)
        #expect(!inspection.hasFathomRuntime && !inspection.isPrivileged)
        try run("strip", [path])
        #expect(try ExecutableInspection.inspect(path: path).isInstrumented)
    }

    @Test func notInstrumented() throws {
        #expect(try !ExecutableInspection.inspect(path: build(Build(.gcc, "-O2"))).isInstrumented)
        let inspection = try ExecutableInspection.inspect(path: build(Build(.gcc, "-static")))
        #expect(!inspection.isInstrumented)
        #expect(inspection.kind == .elfStatic)
    }

    /// A library is no static program, whether or not it needs others; a static program that can be anywhere is no library.
    @Test func sharedLibraries() throws {
        for flags in ["-finstrument-functions -shared -fPIC", "-shared -fPIC -nostdlib -Wl,-soname,liba.so"] {
            let inspection = try ExecutableInspection.inspect(path: build(Build(.gcc, flags)))
            #expect(inspection.kind == .sharedLibrary)
            #expect(inspection.isInstrumented == flags.contains("instrument"))
        }
        for flags in ["-static", "-static-pie -fPIE"] {
            #expect(try ExecutableInspection.inspect(path: build(Build(.gcc, flags))).kind == .elfStatic)
        }
    }

    @Test(arguments: ["-static", "-static-pie"]) func staticallyLinked(_ flag: String) throws {
        let inspection = try ExecutableInspection.inspect(path: build(Build(.gcc, "-finstrument-functions \(flag)")))
        #expect(inspection.kind == .elfStatic)
        #expect(inspection.isInstrumented && !inspection.hasFathomRuntime)
    }

    @Test func withTheStaticRuntime() throws {
        let note = """
            .section .note.fathom, "a", @note
            .balign 4
            .long 7, 4, 1
            .asciz "Fathom"
            .balign 4
            .long 1
            .section .note.GNU-stack, "", @progbits
            """
        let path = try Toolchain.compile(
            sources: ["program.c": Programs.c, "note.s": note], compiler: .gcc, flags: ["-static"],
            output: directory.file("program"))
        try run("strip", [path])
        let inspection = try ExecutableInspection.inspect(path: path)
        #expect(inspection.kind == .elfStatic)
        #expect(inspection.hasFathomRuntime && inspection.isInstrumented)
    }

    @Test func withTheDynamicRuntime() throws {
        try library("libfathom.so")
        let source = "int work(void); int main(void) { return work(); }"
        let path = try build(Build(.gcc, ""), source: source, libraries: ["-L.", "-lfathom"])
        #expect(try ExecutableInspection.inspect(path: path).hasFathomRuntime)
    }

    /// Only a library two steps away is instrumented.
    @Test(arguments: ["-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"])
    func instrumentedLibrary(_ tags: String) throws {
        try directory.makeDirectory("lib")
        let run = ["-Wl,-rpath,$ORIGIN", tags]
        try library("lib/libinner.so", flags: ["-finstrument-functions"])
        try Toolchain.compile(
            sources: ["outer.c": "int work(void); int outer(void) { return work(); }"], compiler: .gcc,
            flags: ["-shared", "-fPIC"] + run, libraries: ["-L.", "-linner"], output: directory.file("lib/libouter.so"))
        let source = "int outer(void); int main(void) { return outer(); }"
        let link = ["-Llib", "-louter", "-Wl,--allow-shlib-undefined", tags]
        let found = try build(Build(.gcc, ""), source: source, libraries: link + ["-Wl,-rpath,$ORIGIN/lib"])
        #expect(try ExecutableInspection.inspect(path: found).isInstrumented)
        let notFound = try build(Build(.gcc, ""), source: source, libraries: link)
        #expect(try !ExecutableInspection.inspect(path: notFound).isInstrumented)
        let inspection = try ExecutableInspection.inspect(path: notFound, libraryPath: directory.file("lib"))
        #expect(inspection.isInstrumented)
    }

    /// A Swift product's hooks go on to the runtime's when that is there.
    @Test func hooksOfSwiftProducts() throws {
        let source = """
            extern void fathom_swift_enter(void *, void *) __attribute__((weak));
            int main(void) { if (fathom_swift_enter) fathom_swift_enter(0, 0); return 0; }
            """
        let path = try build(Build(.gcc, ""), source: source)
        #expect(try ExecutableInspection.inspect(path: path).isInstrumented)
        // The sanitizer's own.
        let own = try build(Build(.gcc, ""), source: "void __tsan_func_entry(void) {} \n" + Programs.c)
        #expect(try !ExecutableInspection.inspect(path: own).isInstrumented)
    }

    @Test func otherKinds() throws {
        let script = try directory.write("#! /bin/sh -e\necho hello\n", to: "script")
        #expect(try ExecutableInspection.inspect(path: script).kind == .script(interpreter: "/bin/sh"))
        for text in ["", "#", "echo hello"] {
            let path = try directory.write(text, to: "text")
            #expect(try ExecutableInspection.inspect(path: path).kind == .notExecutableFormat)
        }
        let object = try build(Build(.gcc, "-c"))
        #expect(try ExecutableInspection.inspect(path: object).kind == .notExecutableFormat)
        let missing = directory.file("missing")
        #expect(throws: SymbolProblem.missing(missing)) { try ExecutableInspection.inspect(path: missing) }
    }

    @Test(.enabled(if: Privilege.isRoot)) func setUserID() throws {
        let path = try build(Build(.gcc, ""))
        try run("chmod", ["u+s", path])
        #expect(try !ExecutableInspection.inspect(path: path).isPrivileged)
        try #require(try run("chown", ["nobody", path]).status == 0)
        try run("chmod", ["u+s", path])
        #expect(try ExecutableInspection.inspect(path: path).isPrivileged)
    }
}
