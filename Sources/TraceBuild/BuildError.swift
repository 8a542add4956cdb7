internal import Glibc

/// Why a compilation or a build cannot go on.
public enum BuildError: Error, Sendable, Equatable, CustomStringConvertible {
    case noCompiler(String)
    /// A Swift build that uses the thread sanitizer's hooks itself.
    case threadSanitizer
    case buildsNothing(String)
    /// A build by Bazel, and the command that gives it hooks.
    case bazel(String)
    /// A compiler of a language that gets no hooks.
    case otherLanguage(String, String)
    case noToolchain(String)
    case cannotRun(String, errno: Int32)
    case cannotRead(String, errno: Int32)
    case cannotWrite(String, errno: Int32)
    /// A directory in which somebody else could put other compilers.
    case notPrivate(String)
    case needsClang(option: String, compiler: String)
    /// An option of the compiler's that leaves no place for sleds.
    case noSleds(option: String, compiler: String)
    /// An option of the compiler's that gives functions hooks, where Fathom is to give them sleds.
    case hooksOfItsOwn(option: String)
    /// The compiler itself fails where functions call hooks, as gcc does with some coroutines.
    case failsWithHooks(sources: [String], compiler: String)
    /// Objects without hooks are about to be linked.
    case mixed(objects: [String], output: String)

    /// A link by a linker that takes no order of functions.
    case linkerWithoutOrder(String)

    /// One line, without a full stop.
    public var description: String {
        switch self {
        case .noCompiler(let name): "\(name): no such compiler in PATH"
        case .threadSanitizer:
            "a build with -sanitize=thread cannot be traced as well: both use the same hooks; leave it out"
        case .buildsNothing(let command): "\(command) builds nothing to trace; use swift build, swift run or swift test"
        case .bazel(let command):
            "Bazel keeps what fathom build sets from compilers, so tell it which compiler to call: \(command)"
        case .otherLanguage(let language, let command):
            "\(command) compiles \(language), which gets no hooks: only C, C++ and Swift do"
        case .noToolchain(let command): "\(command): no Swift toolchain with a frontend and its resources beside it"
        case .cannotRun(let path, let errno): "cannot run \(path): \(String(cString: strerror(errno)))"
        case .cannotRead(let path, let errno): "cannot read \(path): \(String(cString: strerror(errno)))"
        case .cannotWrite(let path, let errno): "cannot write \(path): \(String(cString: strerror(errno)))"
        case .notPrivate(let path):
            "\(path): is not yours alone, so no compilers are taken from there; let XDG_CACHE_HOME name a directory of your own"
        case .needsClang(let option, let compiler):
            "\(option) is an option of clang's, and \(compiler) is not clang; build with CC=clang CXX=clang++"
        case .noSleds(let option, let compiler):
            "with \(option), \(compiler) makes the code where no sleds can be put into it; leave \(option) out, or build with "
                + "CC=clang CXX=clang++"
        case .hooksOfItsOwn(let option):
            "with \(option), functions have hooks that are never closed; leave \(option) out of a build with --dormant"
        case .failsWithHooks(let sources, let compiler):
            "\(compiler) itself fails on \(listed(sources)) where functions call hooks, and not otherwise; build with --dormant, "
                + "leave what it names out by --exclude, or use clang"
        case .linkerWithoutOrder(let linker):
            "\(linker) reads no order of functions: link with lld, gold or GNU ld, as by -fuse-ld=lld"
        case .mixed(let objects, let output):
            "\(output) would be traced in part only: \(listed(objects)) "
                + (objects.count == 1 ? "was" : "were")
                + " compiled without Fathom; clean the build tree first, or link them all the same: fathom build --keep-going -- …"
        }
    }
}
