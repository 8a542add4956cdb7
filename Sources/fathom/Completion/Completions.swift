internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceHistory
internal import TraceQuery
internal import TraceRequest
internal import TraceSymbols
internal import TraceSystem
internal import TraceText

/// What the shells offer to complete where only Fathom can know it. What cannot be read is passed over without a message.
extension CompletionKind {
    /// Sessions in the directory that the word names so far, and directories that may hold some.
    static var session: CompletionKind { .custom { _, _, prefix in sessions(prefix) } }

    /// Functions that the session on the command line has calls of, without their argument lists.
    static var function: CompletionKind {
        .custom { words, _, prefix in
            offered(prefix) { functions(of: session(in: words)) }
        }
    }

    /// Where a start may end: main, or a function or mark of the session.
    static var end: CompletionKind {
        .custom { words, _, prefix in
            offered(prefix) {
                let session = session(in: words)
                return ["main"] + functions(of: session) + marks(of: session)
            }
        }
    }

    private static func functions(of session: Session?) -> [String] { session.map(FunctionNames.init)?.names ?? [] }

    private static func marks(of session: Session?) -> [String] {
        session?.processes.flatMap(\.names.values).filter { $0.kind == .mark }.map { "mark \($0.text)" } ?? []
    }

    /// All time, and the functions and marks of the history or session that the command line names.
    static var subject: CompletionKind {
        .custom { words, _, prefix in
            offered(prefix) {
                let compared = session(in: words)
                return ["total"] + subjects(ofHistoryIn: words) + functions(of: compared)
                    + marks(of: compared)
            }
        }
    }

    /// Names of the session's threads.
    static var thread: CompletionKind {
        .custom { words, _, prefix in
            offered(prefix) {
                ["main"] + (session(in: words)?.processes.flatMap(\.threads).map(\.name) ?? [])
            }
        }
    }

    /// The session's programs, and the ids of its processes.
    static var process: CompletionKind {
        .custom { words, _, prefix in
            offered(prefix) { session(in: words)?.processes.flatMap { [$0.programName, String($0.pid)] } ?? [] }
        }
    }

    /// The session that one of the words names, at whatever place in the command, or else the newest here, as commands read.
    private static func session(in words: [String]) -> Session? {
        // The first two are fathom and its command.
        let path = words.dropFirst(2).lazy.map(unquoted).first { !$0.hasPrefix("-") && Session.exists(at: $0) }
        // `record` reads none, and a word may stand for a session that is not there.
        let command = words.dropFirst().first
        let isNamed = words.dropFirst(2).contains { $0.hasSuffix(".fathom") || $0.hasSuffix(".fathomz") }
        let newest = command == "record" || isNamed ? nil : SessionFiles.newest(in: ".")
        return (path ?? newest).flatMap { try? Session.opened($0) }
    }

    /// The functions, marks and counters of the history that an option names, or else of the one that commands read.
    private static func subjects(ofHistoryIn words: [String]) -> [String] {
        let named = zip(words, words.dropFirst()).first { ["--history", "--against"].contains($0.0) }
        let path = named.map { unquoted($0.1) } ?? HistoryOptions.standardPath
        guard access(path, R_OK) == 0, let store = try? HistoryStore(path: path, creates: false),
            let catalog = try? store.catalog(), let marks = try? store.eventNames(counters: false),
            let counters = try? store.eventNames(counters: true), let measures = try? store.measures()
        else { return [] }
        return catalog.functions.map { Pattern.glob(of: $0.name) } + marks.map { "mark \($0)" } + measures.map(\.title)
            + (words.dropFirst().first == "history" ? counters.map { "counter \($0)" } : [])
    }

    private static func sessions(_ prefix: String) -> [String] {
        let prefix = unquoted(prefix)
        let parent = prefix.lastIndex(of: "/").map { prefix[...$0] } ?? ""
        return offered(prefix) {
            entries(of: parent.isEmpty ? "." : String(parent)).compactMap { name -> String? in
                // Hidden ones only when asked for, as in the shells.
                guard !name.hasPrefix(".") || prefix.dropFirst(parent.count).hasPrefix(".") else { return nil }
                let path = String(parent + name)
                if Session.exists(at: path) { return path }
                return isDirectory(path) ? path + "/" : nil
            }
        }
    }

    /// The candidates that begin with what was typed, sorted, each of them once.
    private static func offered(_ prefix: String, _ candidates: () -> [String]) -> [String] {
        let prefix = unquoted(prefix)
        return Set(candidates().filter { !$0.isEmpty && !$0.contains("\n") && $0.hasPrefix(prefix) }).sorted()
    }

    private static func entries(of directory: String) -> [String] {
        (Directory.names(in: directory) ?? []).filter { !$0.holdsRawBytes }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// A word as the shell passes it, without the quotes and backslashes in it.
    private static func unquoted(_ word: String) -> String {
        var result = ""
        var isEscaped = false
        var quote: Character?
        for character in word {
            if isEscaped {
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
                continue
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                continue
            } else if character == quote {
                quote = nil
                continue
            }
            result.append(character)
        }
        return result
    }
}

/// The names of a session's functions, as quickly as a person waits for a completion.
private struct FunctionNames {
    let names: [String]

    /// Recordings larger than this, in bytes, are not read for it.
    private static let readableSize = 64 << 20

    /// - Complexity: as long as it takes to read a recording of 64 MB. The names of a larger recording are taken from the sums
    ///   kept beside it, if there are any, and otherwise they are those of its programs' functions with hooks.
    init(_ session: Session) {
        var options = QueryOptions()
        options.usesCache = true
        options.lines = false
        let query = try? AggregateQuery(session, options)
        let found = query?.functionNames(readingAtMost: Self.readableSize) ?? Self.hooked(in: session)
        names = found.map { name in
            let glob = Pattern.glob(of: name)
            // A lambda's argument list is within its name: `f::{lambda(int)#1}`.
            return glob.last { $0 == "{" || $0 == "}" } == "{" ? name : glob
        }
    }

    private static func hooked(in session: Session) -> [String] {
        Set(session.processes.compactMap(\.modules.first?.path)).flatMap { program in
            ((try? hookedModules(of: program)) ?? []).flatMap { module in
                module.functions.functions.filter(\.isHooked).map { $0.name(raw: false) }
            }
        }
    }
}
