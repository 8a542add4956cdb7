import TestSupport
import Testing

/// `lasting.c` and its library, which can be built anew with functions of other names in other places.
enum LastingProgram {
    enum Generation: String { case old, new }

    enum Hooks { case always, dormant, none }

    /// Builds both as `p` and `l.so`, and puts them where older ones are, at once.
    static func build(
        _ generation: Generation, _ hooks: Hooks = .always, _ flags: [String] = [], in directory: TemporaryDirectory
    ) throws {
        let compiler =
            switch hooks {
            case .always: ["gcc", "-finstrument-functions"]
            case .dormant: [Fathom.executable, "build", "--dormant", "--", "gcc"]
            case .none: ["gcc"]
            }
        let shared = ["-g", "-O1", "-DGENERATION=\(generation)"] + (generation == .new ? ["-DSHIFTED"] : []) + flags
        for (name, more) in [("p", ["-pthread"]), ("l.so", ["-fPIC", "-shared", "-DLIBRARY"])] {
            let made = try run(
                compiler[0],
                compiler.dropFirst() + shared + more + ["\(Binaries.sources)/lasting.c", "-o", "\(name).new", "-ldl"],
                environment: Fathom.inherited(adding: ["XDG_CACHE_HOME": directory.file("cache")]),
                workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
        }
        for name in ["l.so", "p"] { _ = try run("mv", ["\(name).new", name], workingDirectory: directory.path) }
    }
}
