/// Functions that are the same in several recordings, although addresses and directories differ from build to build.
///
/// A function is known by its name and its module's file name, without what follows `.so`. The program that was recorded is one
/// module, whatever its file is called: `./old` is compared with `./new`.
public final class IdentifiedFunctions {
    /// What functions of several recordings have in common.
    public struct Identity: Hashable, Sendable {
        /// The module's file name; empty for the program, nil for a function of no module.
        public var module: String?
        public var name: String

        public init(module: String?, name: String) {
            self.module = module
            self.name = name
        }

        /// - Parameter program: path of the program that was recorded.
        public init(of function: ResolvedFunction, program: String?) {
            module = function.module.map { $0 == program ? "" : Identity.fileName($0) }
            name = function.name
        }

        /// The last component of a path, without the version of a shared library.
        static func fileName(_ path: String) -> String {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard let end = parts.dropFirst().firstIndex(of: "so") else { return name }
            return parts[...end].joined(separator: ".")
        }
    }

    /// The functions by their ids here.
    public let functions: FunctionTable
    /// By the same ids.
    public private(set) var identities: [Identity] = []
    private var ids: [Identity: UInt32] = [:]
    private let shown = ShownFunctions()

    /// How functions are shown.
    private final class ShownFunctions {
        var functions: [ResolvedFunction] = []
    }

    public init() {
        functions = FunctionTable { [shown] _, address in shown.functions[Int(address) - 1] }
    }

    /// The id of `function`.
    ///
    /// - Parameter isPreferred: it is shown like this from now on; otherwise, if it is the first one.
    public func id(of function: ResolvedFunction, program: String?, isPreferred: Bool = false) -> UInt32 {
        let identity = Identity(of: function, program: program)
        if let id = ids[identity] {
            if isPreferred { shown.functions[Int(id)] = function }
            return id
        }
        // Address 0 stands for a function that is not known.
        let id = functions.intern(FunctionTable.Function(module: -1, address: UInt64(shown.functions.count + 1)))
        shown.functions.append(function)
        identities.append(identity)
        ids[identity] = id
        return id
    }

    /// The same paths over ``functions``. Paths whose functions are the same here are added up.
    ///
    /// - Complexity: O(n log n) in the number of paths.
    public func translated(_ tree: CallPathTree, program: String?, isPreferred: Bool = false) -> CallPathTree {
        var ids = [UInt32?](repeating: nil, count: tree.functions.functions.count)
        var table = CallPathTable()
        var nodes: [UInt32] = []
        nodes.reserveCapacity(tree.paths.count)
        for path in tree.paths {
            let id =
                ids[Int(path.function)]
                ?? self.id(of: tree.functions[path.function], program: program, isPreferred: isPreferred)
            ids[Int(path.function)] = id
            let parent = path.parent < 0 ? 0 : nodes[Int(path.parent)]
            let node = table.callee(of: parent, function: id)
            table.add(path.sums, path.histogram, in: tree.histograms, to: node)
            nodes.append(node)
        }
        return CallPathTree(table, functions: functions)
    }
}
