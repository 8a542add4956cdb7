import TestSupport
import Testing

@testable import TraceSymbols

@Suite struct LibraryPrototypeTests {
    #if arch(x86_64)
        @Test func argumentsAndResults() throws {
            let open = try #require(LibraryPrototype(of: "open", in: "/lib/libc.so.6"))
            let all = try #require(open.arguments(named: [], at: 16))
            #expect(all.returnAddress == 16 && all.arguments.map(\.name) == ["path", "flags"])
            #expect(all.arguments[0].steps == [.register(5), .giveString])
            #expect(
                open.arguments(named: ["flags"], at: 16)?.arguments.map(\.steps) == [
                    [.register(4), .giveValue(size: 4)]
                ])
            #expect(open.arguments(named: ["mode"], at: 16) == nil)
            let result = try #require(open.result(at: 16)?.arguments)
            #expect(result.map(\.name) == ["", "errno"] && result[0].kind == .signed(4))
            guard case .enumeration(4, true, let errors) = result[1].kind else { throw CancellationError() }
            #expect(
                errors["ENOENT"] == 2 && errors["EAGAIN"] == 11 && errors["ECONNREFUSED"] == 111
                    && errors["EHWPOISON"] == 133)
            #expect(LibraryPrototype(of: "strlen", in: "libc.so.6")?.result(at: 0)?.arguments.count == 1)
            let pow = try #require(LibraryPrototype(of: "pow", in: "/lib/libm.so.6"))
            #expect(pow.arguments(named: [""], at: 0)?.arguments.map(\.steps.first) == [.register(17), .register(18)])
            #expect(LibraryPrototype(of: "free", in: "libc.so.6")?.result(at: 0) == nil)
        }

        /// A function of that name in another library may be another function.
        @Test func onlyTheCLibrarys() {
            #expect(LibraryPrototype(of: "open", in: "/usr/lib/libother.so") == nil)
            #expect(LibraryPrototype(of: "nothing", in: "/lib/libc.so.6") == nil)
        }
    #endif

    /// Functions that others can call, of a library without hooks, by each of their names.
    @Test func exportedFunctions() throws {
        let directory = try TemporaryDirectory("exported")
        let path = try Toolchain.compile(
            sources: [
                "library.c": """
                int one(void) { return 1; }
                int other(void) __attribute__((alias("one")));
                static int hidden(void) { return 2; }
                int two(void) { return hidden(); }
                """
            ], compiler: .gcc, flags: ["-shared", "-fPIC", "-O0"], output: directory.file("library.so"))
        let reported = try ReportedFunctions(path: path, unhooked: .exported)
        #expect(reported.isLibrary)
        #expect(Set(reported.functions.map(\.name)).isSuperset(of: ["one", "other", "two"]))
        #expect(!reported.functions.contains { $0.name == "hidden" })
        #expect(try ReportedFunctions(path: path).functions.isEmpty)
    }
}
