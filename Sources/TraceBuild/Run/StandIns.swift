internal import Glibc
internal import TraceSystem
internal import TraceText

/// Directories of stand-ins. They hold links to Fathom that have the names of all compilers in PATH. A build that has
/// the directories first in PATH compiles through Fathom, whichever name it calls: `cc`, `g++-12`, `ccache`.
///
/// Build systems remember a compiler's path, so a directory is never moved or changed: another Fathom, or a PATH with
/// other compilers, has a directory of its own. Compilers of the usual names are found where Fathom is installed, because
/// that place is there for longer than one in a cache.
public enum StandIns {
    /// Makes the directory for the compilers in PATH, or the part of it that is missing.
    ///
    /// - Parameter program: Fathom's executable.
    /// - Returns: What comes first in PATH: the installation's directories all of whose names are compilers in PATH, and
    ///   `compilers/KEY` below the cache.
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func make(of program: String) throws(BuildError) -> [String] {
        let names = compilers(), home = try CacheDirectory.find()
        mend(in: home, for: program)
        let installed = Installation.compilers.filter { names.isSuperset(of: Directory.names(in: $0) ?? [""]) }
        return installed + [try make(of: program, for: names, in: home)]
    }

    /// Points links that lead nowhere to this Fathom: what they led to has been moved or replaced, and trees that were
    /// configured with them call them still.
    static func mend(in home: String, for program: String) {
        let place = "\(home)/compilers"
        for directory in (Directory.names(in: place) ?? []).map({ "\(place)/\($0)" }) where isDirectory(directory) {
            for name in names(in: directory) where access("\(directory)/\(name)", F_OK) != 0 {
                try? link(name, in: directory, to: program)
            }
        }
    }

    /// Puts a stand-in back that a tree was configured with, and which is gone.
    ///
    /// - Returns: Whether it is there now. What did not lie in this user's cache is not made.
    static func restore(_ path: String, program: String) throws(BuildError) -> Bool {
        if access(path, X_OK) == 0 { return true }
        let directory = String(directoryPart(path).dropLast()), home = try CacheDirectory.find()
        guard directoryPart(directory) == "\(home)/compilers/" else { return false }
        for name in compilers().union([lastComponent(path)]) {
            try link(name, in: CacheDirectory.make(directory), to: program)
        }
        return true
    }

    static func make(of program: String, for names: Set<String>, in home: String) throws(BuildError) -> String {
        let directory = try CacheDirectory.make("\(home)/compilers/\(key([program] + names.sorted()))")
        for name in names { try link(name, in: directory, to: program) }
        return directory
    }

    /// A name for a directory that depends on `words`, none of which holds a zero byte: their FNV-1a hash of 64 bits
    /// (http://www.isthe.com/chongo/tech/comp/fnv/), in 16 hexadecimal digits.
    static func key(_ words: [String]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in words.joined(separator: "\0").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: keyLength - digits.count) + digits
    }

    private static let keyLength = 16

    private static func link(_ name: String, in directory: String, to program: String) throws(BuildError) {
        guard target("\(directory)/\(name)") != program else { return }
        // The link is made under another name and then renamed, so that a running build finds the old one or the new
        // one.
        let temporary = "\(directory)/.\(name).\(getpid())"
        guard symlink(program, temporary) == 0, rename(temporary, "\(directory)/\(name)") == 0 else {
            let error = errno
            unlink(temporary)
            throw .cannotWrite("\(directory)/\(name)", errno: error)
        }
    }

    /// The directory in which gcc finds the stand-in for the assembler.
    ///
    /// - Parameter program: Fathom's executable.
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func assembler(program: String) throws(BuildError) -> String {
        if let directory = Installation.assembler { return directory }
        let directory = try CacheDirectory.make("\(CacheDirectory.find())/assemblers/\(key([program]))")
        try link(StandInAssembler.name, in: directory, to: program)
        return directory
    }

    /// The stand-in for the frontend of a Swift toolchain's compiler. Its path alone tells which toolchain that is,
    /// because build systems need not keep the environment.
    ///
    /// It lies where the frontend would lie in a copy of the toolchain. From there the driver looks for the libraries
    /// that it links, static or shared, and only the driver knows which of the two a package asks for.
    ///
    /// - Parameter program: Fathom's executable.
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func frontend(
        of toolchain: SwiftToolchain, program: String, name: String = SwiftBuild.frontendName
    ) throws(BuildError) -> String {
        try frontend(of: toolchain, program: program, name: name, in: CacheDirectory.find())
    }

    static func frontend(
        of toolchain: SwiftToolchain, program: String, name: String = SwiftBuild.frontendName, in home: String
    ) throws(BuildError) -> String {
        let copy = try CacheDirectory.make(
            "\(home)/frontends/\(key([program]))/"
                + toolchain.root.replacing("%", with: "%25").replacing("/", with: "%2F"))
        _ = try CacheDirectory.make(copy + "/bin")
        try link("lib", in: copy, to: toolchain.libraries)
        try link(name, in: copy + "/bin", to: program)
        return "\(copy)/bin/\(name)"
    }

    /// The toolchain that ``frontend(of:program:)`` made `path` for.
    static func toolchain(behind path: String) -> SwiftToolchain? {
        guard let name = path.split(separator: "/").dropLast(2).last else { return nil }
        return SwiftToolchain(root: name.replacing("%2F", with: "/").replacing("%25", with: "%"))
    }

    /// Whether a program is called by a name that a stand-in may have.
    public static func isStandIn(_ program: String) -> Bool {
        let name = lastComponent(program)
        return CompilerName.isCompiler(name) || CompilerName.launchers.contains(name) || CompilerName.isSwift(name)
    }

    /// Makes this process, and what it starts from here on, find the real compilers.
    static func leave() {
        if let path = environmentVariable("PATH") {
            let kept = path.split(separator: ":", omittingEmptySubsequences: false).filter { !isDirectory(String($0)) }
            setenv("PATH", kept.joined(separator: ":"), 1)
        }
        for variable in compilerVariables {
            let prefix = standIn(for: "", program: resolvedPath("/proc/self/exe") ?? "").joined(separator: " ")
            guard let value = environmentVariable(variable), value.hasPrefix(prefix) else { continue }
            setenv(variable, String(value.dropFirst(prefix.count)), 1)
        }
    }

    /// What to call in place of a compiler that is named by its path.
    ///
    /// - Parameter program: Fathom's executable.
    static func standIn(for path: String, program: String) -> [String] { [program, "cc", path] }

    /// Environment variables that name compilers for a build, sometimes by their paths.
    static let compilerVariables = ["CC", "CXX"]

    /// Whether a directory of PATH holds stand-ins, be they this Fathom's or another's. A compiler that is found there
    /// would be Fathom again.
    static func isDirectory(_ path: String) -> Bool {
        var parts = path.split(separator: "/")[...]
        if let last = parts.last, last.count == keyLength && last.allSatisfy(\.isHexDigit) || installed.contains(last) {
            parts.removeLast()
        }
        return parts.suffix(2) == ["fathom", "compilers"]
    }

    /// The directories of ``Installation/compilers``.
    private static let installed: Set<Substring> = ["gcc", "clang", "swift"]

    /// Names of all compilers and launchers in PATH.
    private static func compilers() -> Set<String> {
        let path = environmentVariable("PATH") ?? "/usr/bin:/bin"
        let directories = path.split(separator: ":").map(String.init).filter { !isDirectory($0) }
        return Set(directories.flatMap { names(in: $0) }.filter { isStandIn($0) })
    }

    private static func names(in directory: String) -> [String] {
        (Directory.names(in: directory) ?? []).filter { !$0.hasPrefix(".") }
    }

    private static func target(_ link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { buffer in
            link.withRawCString { readlink($0, buffer.bindMemory(to: CChar.self).baseAddress!, buffer.count) }
        }
        return count < 0 ? nil : String(raw: buffer[..<count])
    }
}
