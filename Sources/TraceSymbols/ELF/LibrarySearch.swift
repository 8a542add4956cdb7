internal import CElfutils
internal import Glibc

/// Finds needed libraries as the dynamic loader does (ld.so(8)): DT_RPATH from the library up to the program,
/// LD_LIBRARY_PATH, DT_RUNPATH, the configured directories, the default ones.
struct LibrarySearch {
    private let environmentPaths: [String]
    private let machine: UInt16
    private let is64Bit: Bool
    private var seen: Set<String> = []
    private lazy var systemPaths = Self.configuredPaths("/etc/ld.so.conf", depth: 0) + Self.defaultPaths

    init(program: borrowing ELFFile, libraryPath: String?) {
        environmentPaths = (libraryPath ?? "").split { $0 == ":" || $0 == ";" }.map { String($0) }
        machine = program.header.e_machine
        is64Bit = program.is64Bit
    }

    /// Whether `isWanted` holds for a library that `module` needs, directly or through others.
    ///
    /// Each library is opened once, in the order in which the loader has them: those that are needed directly come first. The search
    /// ends at the first that is wanted.
    mutating func anyLibrary(
        of module: borrowing ELFFile, _ dynamic: DynamicSection, isWanted: (borrowing ELFFile) -> Bool
    ) -> Bool {
        // With each module, the DT_RPATH directories of those above it.
        var modules = [(dynamic, [String]())], next = 0
        while next < modules.count {
            let (dynamic, inherited) = modules[next]
            let rpaths = dynamic.inheritedPaths + inherited
            next += 1
            for name in dynamic.needed where seen.insert(name).inserted {
                guard let library = open(name, first: dynamic.ownPaths.isEmpty ? rpaths : [], then: dynamic.ownPaths)
                else { continue }
                if isWanted(library) { return true }
                modules.append((DynamicSection(library), rpaths))
            }
        }
        return false
    }

    private mutating func open(_ name: String, first: [String], then: [String]) -> ELFFile? {
        if name.contains("/") { return openMatching(name) }
        for directory in first + environmentPaths + then + systemPaths {
            if let library = openMatching("\(directory)/\(name)") { return library }
        }
        return nil
    }

    /// Opens a library. Like the loader, it passes over libraries for other machines.
    private func openMatching(_ path: String) -> ELFFile? {
        guard access(path, R_OK) == 0, let file = try? ELFFile(path: path) else { return nil }
        guard file.header.e_machine == machine, file.is64Bit == is64Bit else { return nil }
        return file
    }

    /// Directories in `/etc/ld.so.conf` and the files it includes (ldconfig(8)).
    private static func configuredPaths(_ file: String, depth: Int) -> [String] {
        guard depth < 8, let stream = fopen(file, "re") else { return [] }
        defer { fclose(stream) }
        var paths: [String] = []
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while getline(&line, &capacity, stream) > 0, let line {
            let text = String(cString: line).prefix { $0 != "#" }
            let words = text.split { $0.isWhitespace || $0 == "," || $0 == ":" }.map { String($0) }
            if words.first == "include" {
                for pattern in words.dropFirst() {
                    for included in glob(pattern) { paths += configuredPaths(included, depth: depth + 1) }
                }
            } else {
                paths += words
            }
        }
        return paths
    }

    private static func glob(_ pattern: String) -> [String] {
        var matches = glob_t()
        defer { globfree(&matches) }
        guard Glibc.glob(pattern, 0, nil, &matches) == 0 else { return [] }
        return (0..<Int(matches.gl_pathc)).compactMap { matches.gl_pathv[$0].map { String(cString: $0) } }
    }

    /// The directories that are built into the loaders of Debian, Fedora and other distributions.
    private static var defaultPaths: [String] {
        #if arch(x86_64)
            let multiarch = "x86_64-linux-gnu"
        #else
            let multiarch = "aarch64-linux-gnu"
        #endif
        return ["/lib/\(multiarch)", "/usr/lib/\(multiarch)", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }
}
