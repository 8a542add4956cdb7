internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceText

/// The session that a command reads, and which of its threads.
struct SessionOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A session, packed or not, or a program recorded into PROGRAM.fathom; the newest session here if left out.",
            valueName: "session"), completion: .session)
    var given: String?

    @OptionGroup var threads: ThreadOptions
    @OptionGroup var symbols: SymbolOptions

    /// Opens the session; see ``openSession(_:)``.
    func open() throws -> Session { try openSession(given ?? newestSession()) }

    /// What is read, and the function that is asked for: a single word is the function's name, unless it is a session.
    ///
    /// - Parameter isNeeded: whether there has to be a function. If not, what is there by that name, or looks like a path, is
    ///   taken for a session, whatever is wrong with it.
    func withFunction(_ function: String?, isNeeded: Bool) -> (SessionOptions, String?) {
        guard function == nil, let word = given, !Session.exists(at: word),
            isNeeded || !SessionOptions.looksLikePath(word)
        else { return (self, function) }
        var newest = self
        newest.given = nil
        return (newest, word)
    }

    private static func looksLikePath(_ word: String) -> Bool {
        let isExpression = word.count > 1 && word.hasPrefix("/") && word.hasSuffix("/")
        return word.isEmpty || [".fathom", ".fathomz"].contains(where: word.hasSuffix)
            || word.contains("/") && !isExpression || access(word, F_OK) == 0 || Session.exists(at: word + ".fathom")
    }

    /// The session as it is asked for. Bad usage is reported before a bad session.
    ///
    /// - Parameter change: sets what the command asks for besides.
    func query(
        _ filters: FilterOptions? = nil, _ change: (inout QueryOptions) -> Void = { _ in }
    ) throws -> SessionQuery {
        var options = try options(filters)
        change(&options)
        return SessionQuery(try open(), options, listener: Diagnostics.listener())
    }

    /// What is asked of the session. Bad usage is thrown.
    func options(_ filters: FilterOptions?) throws -> QueryOptions { try QueryOptions(threads, symbols, filters) }

    /// The sums of the session's calls, with the same order of errors.
    func aggregate(
        _ filters: FilterOptions?, times: CorrectionOptions? = nil, usesCache: Bool,
        _ change: (inout QueryOptions) -> Void = { _ in }
    ) throws -> AggregateQuery {
        var options = try options(filters)
        options.times = times?.query ?? .raw
        options.usesCache = usesCache
        change(&options)
        return try AggregateQuery(open(), options, listener: Diagnostics.listener())
    }
}

extension QueryOptions {
    /// What the options ask for. Bad usage is thrown.
    init(_ threads: ThreadOptions, _ symbols: SymbolOptions, _ filters: FilterOptions?) throws {
        self.init()
        selection = try threads.selection()
        symbolFiles = try symbols.readable()
        filter = try filters?.treeFilter() ?? TreeFilter()
        rawNames = filters?.rawNames ?? false
    }
}

/// The session in the working directory that was begun last, which is said. That there is none is bad usage.
func newestSession() throws -> String {
    guard let newest = SessionFiles.newest(in: ".") else {
        if let other = SessionFiles.forbidden(in: ".").first { _ = try openSession(PathText.relative(other, to: "/")) }
        throw ValidationError("name a session: there is none in this directory (fathom record -- COMMAND makes one)")
    }
    Diagnostics.say("reading \(newest), the newest session here")
    return newest
}

/// Opens a session.
func openSession(_ path: String) throws -> Session { try openSession(path, readsCalls: true) }

/// - Parameter readsCalls: see ``Session/init(path:readsCalls:)``.
func openSession(_ path: String, readsCalls: Bool) throws -> Session {
    try FileName.check(path)
    return try Session.opened(path, readsCalls: readsCalls)
}
