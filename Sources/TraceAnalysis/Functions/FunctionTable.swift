internal import TraceFile

/// The functions of a session by dense id, each with a name that is made when it is first asked for.
public final class FunctionTable {
    /// A function: an address in a module's file, or in memory when no module is known there.
    public struct Function: Hashable, Sendable {
        /// Index in ``FunctionTable/modules``, -1 for none.
        public var module: Int32
        public var address: UInt64
        /// Number of the line that it is called at, where calls from each line count by themselves; else 0.
        var line: UInt32 = 0

        public init(module: Int32, address: UInt64) {
            self.module = module
            self.address = address
        }
    }

    /// A line of a source file.
    public struct Line: Hashable, Sendable {
        public let file: String
        public let number: Int
    }

    /// Resolves an address in a module's file or, when the module is nil, an address in memory that belongs to no
    /// module.
    public typealias Resolve = (_ module: ModuleIdentity?, _ address: UInt64) -> ResolvedFunction
    /// Resolves an address inside a function, for instance a call site, to a line.
    public typealias Locate = (_ module: ModuleIdentity, _ address: UInt64) -> (file: String, line: Int)?
    /// Names what the function at an address is one of several versions of; nil when there is but one. All versions
    /// count as one function.
    public typealias Identify = (_ module: ModuleIdentity, _ address: UInt64) -> String?

    /// Says what part of a function that may suspend the code at an address is.
    public typealias Divide = (_ module: ModuleIdentity, _ address: UInt64) -> AsyncPart

    public private(set) var functions: [Function] = []
    public private(set) var modules: [ModuleIdentity] = []
    /// Whether calls are samples of the stacks. A row counts one of these once, however often it is on the stack.
    public var countsSamples = false
    /// What there is a number of.
    public var counted: String { countsSamples ? "samples" : "calls" }
    private var functionIDs: [Function: UInt32] = [:]
    private var moduleIDs: [ModuleIdentity: Int32] = [:]
    private var resolved: [ResolvedFunction?] = []
    private let resolve: Resolve
    private let locate: Locate
    private let identify: Identify
    private let divide: Divide
    private var versions: [Version: UInt32] = [:]
    private var lines: [Line] = []
    private var lineNumbers: [Line: UInt32] = [:]

    private struct Version: Hashable {
        var module: Int32
        var identity: String
    }

    public init(
        resolve: @escaping Resolve, locate: @escaping Locate = { _, _ in nil },
        identify: @escaping Identify = { _, _ in nil }, divide: @escaping Divide = { _, _ in AsyncPart() }
    ) {
        self.resolve = resolve
        self.locate = locate
        self.identify = identify
        self.divide = divide
    }

    /// The dense index of `module`.
    public func intern(_ module: ModuleIdentity) -> Int32 {
        if let known = moduleIDs[module] { return known }
        let id = Int32(modules.count)
        modules.append(module)
        moduleIDs[module] = id
        return id
    }

    /// The function that stands for the named scope `name`, wherever the scope is entered. It has a module of its own,
    /// whose path is the name, so that a file that keeps modules and functions keeps the name, too.
    public func scope(_ name: String) -> Function {
        Function(module: intern(ModuleIdentity(path: name, buildID: [])), address: GivenName.scopeBase)
    }

    /// The dense id of `function`.
    public func intern(_ function: Function) -> UInt32 {
        if let known = functionIDs[function] { return known }
        let version =
            function.module < 0 || function.address == GivenName.scopeBase || function.line > 0
            ? nil
            : identify(modules[Int(function.module)], function.address).map {
                Version(module: function.module, identity: $0)
            }
        if let version, let known = versions[version] {
            functionIDs[function] = known
            // The version that comes first in the file stands for all of them, whichever was called first.
            if function.address < functions[Int(known)].address {
                functions[Int(known)] = function
                resolved[Int(known)] = nil
            }
            return known
        }
        let id = UInt32(functions.count)
        if let version { versions[version] = id }
        functions.append(function)
        resolved.append(nil)
        functionIDs[function] = id
        return id
    }

    /// Gives functions the numbers that they have in another table. This one has none yet, but for those that it got so before.
    ///
    /// - Parameter modules: those of the other table.
    public func number(_ all: [Function], of modules: [ModuleIdentity]) {
        let modules = modules.map { intern($0) }
        for var function in all.dropFirst(functions.count) {
            if function.module >= 0 { function.module = modules[Int(function.module)] }
            _ = intern(function)
        }
    }

    /// The dense id of function `id` as it is called at a line: that counts as a function by itself.
    func intern(_ id: UInt32, calledAt place: (file: String, line: Int)) -> UInt32 {
        let line = Line(file: place.file, number: place.line)
        var function = functions[Int(id)]
        function.line = lineNumbers[line] ?? 0
        if function.line == 0 {
            lines.append(line)
            function.line = UInt32(lines.count)
            lineNumbers[line] = function.line
        }
        return intern(function)
    }

    /// The line that function `id` is called at, where that is known and counts by itself.
    public func line(ofCallsOf id: UInt32) -> Line? {
        let line = functions[Int(id)].line
        return line == 0 ? nil : lines[Int(line) - 1]
    }

    /// Name and place of function `id`.
    public subscript(id: UInt32) -> ResolvedFunction {
        if let known = resolved[Int(id)] { return known }
        let function = functions[Int(id)]
        let value =
            if function.module < 0, let name = FunctionTable.names[function.address] {
                ResolvedFunction(name: name, module: nil, file: nil, line: 0, isKnown: function.address != 0)
            } else if function.address == GivenName.scopeBase, function.module >= 0 {
                ResolvedFunction(
                    name: modules[Int(function.module)].path, module: nil, file: nil, line: 0, isKnown: false)
            } else {
                resolve(function.module < 0 ? nil : modules[Int(function.module)], function.address)
            }
        resolved[Int(id)] = value
        return value
    }

    /// Addresses that stand for no function: that of a call of which nothing is known, ...
    private static let names: [UInt64: String] = [0: "?", suspended: "(suspended)", runningTasks: "(running tasks)"]
    /// ... of time in which a task did not run, ...
    static let suspended = UInt64.max
    /// ... and of time in which a thread ran tasks, which are shown by themselves.
    static let runningTasks = UInt64.max - 1

    /// Id of the function that stands for time in which a task did not run; nil when none is known to have waited.
    public var suspended: UInt32? { functionIDs[Function(module: -1, address: FunctionTable.suspended)] }

    /// Whether function `id` stands for time in which a task waited or was run, and so not for calls.
    package func isTime(_ id: UInt32) -> Bool {
        let function = functions[Int(id)]
        return function.module < 0
            && (function.address == FunctionTable.suspended || function.address == FunctionTable.runningTasks)
    }

    func part(module: Int32, address: UInt64) -> AsyncPart { divide(modules[Int(module)], address) }

    /// The line of an address in a file, or nil.
    func location(module: Int32, address: UInt64) -> (file: String, line: Int)? {
        locate(modules[Int(module)], address)
    }
}
