internal import Glibc
internal import TraceSystem

/// The headers of libraries that one compilation finds: those below the directories that the compiler searches by itself and
/// those that it is told to search for the system's (`-isystem`, `CPLUS_INCLUDE_PATH`). Their functions get no hooks.
///
/// The headers of a project that lies below such a directory are not among them. If the compiler searches the directory
/// by itself, only its entry with the project's sources does not count; if `-isystem` names the directory, none of it
/// counts.
struct SystemHeaders {
    /// None: every header's functions get hooks.
    static let none = SystemHeaders(directories: [], project: [])

    /// Absolute paths, each directory in all its spellings.
    private let directories: [String]
    /// What is compiled and where, absolute.
    private let project: [String]

    /// - Parameters:
    ///   - directories: as the compiler names them, absolute.
    ///   - project: the sources and the working directory, absolute.
    init(directories: [String], project: [String]) {
        var spellings: [String] = []
        for directory in directories {
            for spelling in [directory, absolutePath(directory, in: "/"), resolvedPath(directory) ?? directory]
            where spelling != "/" && !spellings.contains(spelling) {
                spellings.append(spelling)
            }
        }
        self.directories = spellings
        self.project = project
    }

    var isEmpty: Bool { directories.isEmpty }

    /// Whether a file is such a header.
    ///
    /// - Parameter file: absolute, without `..`.
    func hold(_ file: String) -> Bool {
        directories.contains { directory in
            guard file.hasPrefix(directory + "/") else { return false }
            let entry = file.dropFirst(directory.count + 1).prefix { $0 != "/" }
            return !project.contains { "\($0)/".hasPrefix("\(directory)/\(entry)/") }
        }
    }

    /// The same for gcc, which looks for texts anywhere in the names of files. The texts are the directories; where the
    /// project's own paths hold one, its entries that those paths do not hold take its place.
    ///
    /// - Parameter include: directories that the project's own headers are looked for in, as the command names them.
    func texts(besides include: [String]) -> [String] {
        let own =
            (project + include.filter { path in !directories.contains { "\(path)/".hasPrefix($0 + "/") } })
            .map { $0 + "/" }
        var texts: [String] = []
        for directory in directories {
            if !own.contains(where: { $0.contains(directory + "/") }) {
                texts.append(directory + "/")
            } else {
                for entry in (Directory.names(in: directory) ?? []).sorted() {
                    let path = "\(directory)/\(entry)"
                    if !own.contains(where: { $0.contains(path + "/") }) { texts.append(path) }
                }
            }
        }
        // A text that holds another one is not needed: gcc finds its files by the other one.
        return texts.filter { text in !texts.contains { $0 != text && text.contains($0) } }
    }
}

// MARK: - Asking the compiler

extension SystemHeaders {
    /// Asks the compiler which directories it searches: once in a build for all commands that agree in the options that
    /// matter here.
    ///
    /// - Parameter directory: the working directory.
    init(_ compiler: Compiler, _ invocation: CompilerInvocation, in directory: String, log: BuildLog?) {
        let language = invocation.isCXX || compiler.isCXX ? "c++" : "c"
        let question =
            [compiler.path] + invocation.searchOptions + ["-E", "-v", "-x", language, "/dev/null", "-o", "/dev/null"]
        let surroundings = Self.variables.map { environmentVariable($0) ?? "" } + [directory]
        let note = log?.note(on: question + surroundings)
        let found: [String]
        if let note, let known = try? TextFile.read(note) {
            found = known.split(separator: "\n").map(String.init)
        } else {
            found = Self.directories(inAnswer: (try? Subprocess.output(question, of: STDERR_FILENO)) ?? "", directory)
            if let note { try? TextFile.replace(note, with: found.joined(separator: "\n")) }
        }
        let project = invocation.sources.map { absolutePath($0, in: directory) } + [directory]
        let named = invocation.systemDirectories.map { absolutePath($0, in: directory) }
        self.init(
            directories: found.filter { found in
                let path = absolutePath(found, in: "/")
                return !named.contains(path) || !project.contains { $0 == path || $0.hasPrefix(path + "/") }
            }, project: project)
    }

    private static let variables = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "SDKROOT", "COMPILER_PATH"]

    /// Reads the directories from the compiler's answer. They alone stand on lines that begin with a blank, whatever
    /// language the rest is in.
    private static func directories(inAnswer answer: String, _ directory: String) -> [String] {
        answer.split(separator: "\n").compactMap { line in
            guard line.first == " " else { return nil }
            let path = line.dropFirst()
            let absolute = path.hasPrefix("/") ? String(path) : absolutePath(String(path), in: directory)
            var status = stat()
            return stat(absolute, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? absolute : nil
        }
    }
}

extension CompilerInvocation {
    /// Options that the directories of the system's headers depend on.
    var searchOptions: [String] {
        options { argument in
            ["-isystem", "-idirafter", "-isysroot", "--sysroot", "-nostdinc", "-stdlib", "-target", "--target", "-B"]
                .contains { argument.hasPrefix($0) }
                || ["--gcc-", "-cxx-isystem", "-resource-dir", "-iprefix", "-iwithprefix", "-imultilib"]
                    .contains { argument.hasPrefix($0) }
                || ["-m32", "-m64", "-mx32"].contains(argument)
        }.flatMap { $0 }
    }

    /// What `-isystem` names.
    var systemDirectories: [String] { directories(of: ["-isystem", "-idirafter", "-cxx-isystem"]) }

    /// Where the project's own headers are looked for.
    var includeDirectories: [String] { directories(of: ["-I", "-iquote"]) }

    private func directories(of options: [String]) -> [String] {
        options.flatMap { option in
            self.options { $0.hasPrefix(option) }.map { words in
                words.count > 1 ? words[1] : String(words[0].dropFirst(option.count))
            }
        }
    }

    /// The options that are wanted, each with its value if the value is an argument of its own.
    private func options(_ isWanted: (String) -> Bool) -> [[String]] {
        var found: [[String]] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let value = argument == "-o" || Self.takesNext.contains(argument) ? rest.popFirst() : nil
            if isWanted(argument) { found.append([argument] + [value].compactMap { $0 }) }
        }
        return found
    }
}
