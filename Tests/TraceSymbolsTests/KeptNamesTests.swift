import TestSupport
import Testing
import TraceSymbols

/// What a session keeps of a module says the same as the module's file did.
@Suite struct KeptNamesTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("kept names") }

    static let builds = [
        Build(.gcc, "-O0 -g"), Build(.gcc, "-O2 -g"), Build(.gcc, "-O2"), Build(.gcc, "-O1 -g -Wl,--build-id=none"),
        Build(.clang, "-O1 -g"), Build(.clang, "-O0 -gdwarf-4"), Build(.gxx, "-O1 -g"), Build(.clangxx, "-O1 -g"),
    ]

    /// An address in no function, which somebody may ask for.
    private static let nowhere: UInt64 = 2

    private func program(_ build: Build) throws -> String {
        let isCXX = build.compiler == .gxx || build.compiler == .clangxx
        return try Toolchain.compile(
            sources: isCXX ? ["program.cpp": Programs.cxx] : ["program.c": Programs.c], compiler: build.compiler,
            flags: build.flags, output: directory.file("program"))
    }

    /// Writes it, reads it, and removes the program.
    private func kept(_ module: KeptModule?, of path: String, _ buildID: [UInt8]) throws -> ModuleSymbols {
        let bytes = KeptNames([try #require(module)]).bytes
        let names = try #require(bytes.withUnsafeBytes { KeptNames(bytes: $0) })
        #expect(names.damage == nil)
        _ = try run("mv", [path, path + ".away"])
        return ModuleSymbols(path: path, buildID: buildID, kept: names[path: path, buildID: buildID])
    }

    @Test(arguments: builds, [false, true])
    func answersAreTheSame(_ build: Build, all: Bool) throws {
        let path = try program(build)
        let listed = try ListedFunction.all(of: path).filter { $0.size > 0 }
        // The function's first byte, one within it, and one of the instruction after a call.
        let functions = Set(listed.map(\.start) + [Self.nowhere]),
            sites = Set(listed.flatMap { [$0.start + 1, $0.start + $0.size / 2] })
        let buildID = try #require(try? ReportedFunctions(path: path)).buildID
        let file = ModuleSymbols(path: path, buildID: buildID)
        let symbols = functions.sorted().map { file.symbol(at: $0) }
        let lines = sites.sorted().map { file.location(at: $0) }
        #expect(symbols.filter(\.isKnown).count > 3)
        if build.flags.contains(where: { $0.hasPrefix("-g") }) { #expect(lines.compactMap(\.self).count > 3) }
        let source = ModuleSymbols(path: path, buildID: buildID)
        let module = all ? source.keepAll() : source.keep(functions: functions, sites: sites, variables: [])
        let kept = try kept(module, of: path, buildID)
        #expect(kept.problem == nil)
        #expect(functions.sorted().map { kept.symbol(at: $0) } == symbols)
        let keptLines = sites.sorted().map { kept.location(at: $0) }
        #expect(zip(keptLines, lines).allSatisfy { $0?.file == $1?.file && $0?.line == $1?.line })
        // What nobody asked for is not known, but never wrong.
        let unasked = kept.symbol(at: 0xffff_0000)
        #expect(!unasked.isKnown && unasked.name == "program+0xffff0000")
    }

    /// Small functions that have neither names nor lines.
    @Test func strippedFunctions() throws {
        let path = try Toolchain.compile(
            sources: [
                "many.c": (0..<300).map { "int f\($0)(int n) { return n + \($0); }\n" }.joined() + "int main() {}"
            ],
            compiler: .gcc, flags: ["-Os"], output: directory.file("many"))
        let functions = try ListedFunction.all(of: path).map(\.start)
        _ = try run("strip", [path])
        let file = ModuleSymbols(path: path, buildID: [])
        let module = file.keep(functions: Set(functions), sites: [], variables: [])
        let symbols = functions.map { file.symbol(at: $0) }
        let kept = try kept(module, of: path, [])
        #expect(functions.map { kept.symbol(at: $0) } == symbols)
    }

    /// A few functions among many are looked up in a part of the table, and are the same.
    @Test(arguments: [Build(.gcc, "-O1 -g"), Build(.clangxx, "-O1 -g")])
    func eachFunctionByItself(_ build: Build) throws {
        let path = try program(build)
        let file = ModuleSymbols(path: path, buildID: [])
        for function in try ListedFunction.all(of: path) {
            for address in [function.start, function.start + function.size / 2, function.start + function.size + 1] {
                let module: KeptModule = try #require(
                    ModuleSymbols(path: path, buildID: []).keep(
                        functions: [address], sites: [address], variables: []))
                let kept = ModuleSymbols(path: path, buildID: [], kept: module)
                #expect(kept.symbol(at: address) == file.symbol(at: address), "\(function.name)")
                let (left, right) = (kept.location(at: address), file.location(at: address))
                #expect(left?.file == right?.file && left?.line == right?.line, "\(function.name)")
            }
        }
    }

    @Test func variables() throws {
        let path = try Toolchain.compile(
            sources: ["v.c": "int many[10] = {1}; static long one = 2; int main(void) { return many[1] + (int)one; }"],
            compiler: .gcc, flags: ["-g"], output: directory.file("v"))
        let file = ModuleSymbols(path: path, buildID: [])
        let start = try #require(
            try run("nm", [path]).stdout.split(separator: "\n").first { $0.hasSuffix(" many") }
                .flatMap { UInt64($0.prefix(16), radix: 16) })
        #expect(file.variable(at: start + 4) == "many+4")
        let module = ModuleSymbols(path: path, buildID: []).keep(
            functions: [], sites: [], variables: [start, start + 4, 1])
        let kept = try kept(module, of: path, [])
        #expect(kept.variable(at: start) == "many")
        #expect(kept.variable(at: start + 4) == "many+4")
        #expect(kept.variable(at: 1) == nil)
        #expect(kept.variable(at: start + 8) == nil)
    }

    /// What the dynamic linker had to do is kept beside the names, or alone.
    @Test func linkage() throws {
        let path = try program(Build(.gcc, "-O0 -g")), symbols = ModuleSymbols(path: path, buildID: [])
        let counts = try #require(symbols.dynamicLinkage).relocations
        #expect(counts.values.reduce(0, +) > 3)
        let functions = Set(try ListedFunction.all(of: path).map(\.start))
        var modules = [
            try #require(symbols.keep(functions: functions, sites: [], variables: [])),
            KeptModule(path: "/alone", buildID: [1, 2]), KeptModule(path: "/unasked", buildID: [3]),
        ]
        modules[0].linkage = KeptModule.Linkage(relocations: counts, isUnused: false)
        modules[1].linkage = KeptModule.Linkage(relocations: [.other: 1 << 40], isUnused: true)
        let names = try #require(KeptNames(modules).bytes.withUnsafeBytes { KeptNames(bytes: $0) })
        #expect(names.damage == nil)
        for module in modules {
            let read = try #require(names[path: module.path, buildID: module.buildID])
            #expect(read.linkage == module.linkage)
            #expect(read.isEmpty == (module.path == "/unasked"))
        }
        let kept = ModuleSymbols(path: path, buildID: [], kept: names[path: path, buildID: []])
        for function in functions { #expect(kept.symbol(at: function).name == symbols.symbol(at: function).name) }
    }

    /// Another program at the path is not asked, and nor is one that was rebuilt.
    @Test func anotherFileIsNeverAsked() throws {
        let path = try program(Build(.gcc, "-O0 -g"))
        let buildID = try #require(try? ReportedFunctions(path: path)).buildID
        let function = try #require(try ListedFunction.all(of: path).first { $0.name == "global_two" })
        #expect(!buildID.isEmpty)
        let module = try #require(
            ModuleSymbols(path: path, buildID: buildID).keep(functions: [function.start], sites: [], variables: []))
        try Toolchain.compile(
            sources: ["program.c": "int other(int a) { return a; }\n" + Programs.c], compiler: .gcc,
            flags: ["-O2", "-g", "-DOTHER"], output: path)
        let kept = ModuleSymbols(path: path, buildID: buildID, kept: module)
        #expect(kept.symbol(at: function.start).name == "global_two")
        #expect(!kept.symbol(at: function.start + function.size + 16).isKnown)
        #expect(
            ModuleSymbols(path: path, buildID: buildID).keep(functions: [function.start], sites: [], variables: [])
                == nil)
    }

    /// Of 2,000 damaged files, each says what is damaged or says the same; none makes up a name.
    @Test func damagedFiles() throws {
        let paths = try [Build(.gcc, "-O0 -g"), Build(.gxx, "-O1 -g")].map { build in
            let path = try program(build)
            _ = try run("mv", [path, "\(path)-\(build.compiler.rawValue)"])
            return "\(path)-\(build.compiler.rawValue)"
        }
        var functions: [String: [UInt64]] = [:]
        let modules = try paths.map { path in
            functions[path] = try ListedFunction.all(of: path).map(\.start)
            return try #require(
                ModuleSymbols(path: path, buildID: []).keep(
                    functions: Set(functions[path]!), sites: Set(functions[path]!.map { $0 + 1 }), variables: [1]))
        }
        let whole = KeptNames(modules).bytes
        func names(_ bytes: [UInt8]) throws -> [String: [Symbol]]? {
            guard let names = bytes.withUnsafeBytes({ KeptNames(bytes: $0) }) else { return nil }
            var found: [String: [Symbol]] = [:]
            for path in paths {
                guard let module = names[path: path, buildID: []] else {
                    #expect(names.damage != nil, "\(path) is missing and nothing is said")
                    continue
                }
                let symbols = ModuleSymbols(path: path, buildID: [], kept: module)
                found[path] = functions[path]!.map { symbols.symbol(at: $0) }
            }
            return found
        }
        let right = try #require(try names(whole))
        #expect(right.count == 2)
        var random = SplitMix64(state: 33)
        var damaged = 0
        for round in 0..<2000 {
            var bytes = whole
            switch round % 4 {
            case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            case 1: bytes[Int.random(in: 0..<24, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default:
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
            }
            guard bytes != whole else { continue }
            guard let found = try names(bytes) else {
                damaged += 1
                continue
            }
            // A cut between two modules cannot be told from a file of fewer modules.
            if found.count < 2 { damaged += 1 }
            for (path, symbols) in found { #expect(symbols == right[path], "round \(round)") }
        }
        #expect(damaged > 1500)
    }
}
