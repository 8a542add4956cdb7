/// A language without hooks that a build command compiles.
struct OtherLanguage {
    let name: String
    /// Whether the command compiles nothing else. A tool that builds packages may also run compilers of C.
    let isAlone: Bool

    /// - Returns: Nil for commands that may be about any language.
    init?(_ command: [String]) {
        let tool = lastComponent(command[0])
        if let language = Self.compilers[tool] {
            (name, isAlone) = (language, true)
        } else if let language = Self.builders[tool] {
            (name, isAlone) = (language, false)
        } else {
            return nil
        }
    }

    /// What to tell the user when the build compiled nothing else.
    var advice: String {
        "nothing was compiled with hooks: this build is of \(name), and only C, C++ and Swift get hooks"
    }

    private static let compilers = [
        "rustc": "Rust", "ghc": "Haskell", "ocamlopt": "OCaml", "ocamlc": "OCaml", "javac": "Java", "kotlinc": "Kotlin",
        "gfortran": "Fortran", "flang": "Fortran", "gnatmake": "Ada", "gccgo": "Go", "ldc2": "D", "dmd": "D",
        "gdc": "D",
        "fpc": "Pascal", "zig": "Zig", "tsc": "TypeScript",
    ]
    private static let builders = [
        "cargo": "Rust", "go": "Go", "cabal": "Haskell", "stack": "Haskell", "dune": "OCaml", "gprbuild": "Ada",
        "dub": "D",
        "mvn": "Java", "gradle": "Java",
    ]
}
