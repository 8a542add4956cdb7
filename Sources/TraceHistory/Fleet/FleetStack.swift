internal import TraceAnalysis

/// A call path as the fleet's tables know it: by a number that follows from its names alone, so that files of many machines and
/// versions go together without a list of paths that they share.
public struct FleetStack: Sendable, Equatable {
    /// ``id(caller:module:name:)``
    public var id: UInt64
    /// Index of the caller's stack, which comes before; -1 for a root.
    public var caller: Int
    /// Callers from the root.
    public var depth: Int
    /// The module's file name without a shared library's version; empty for the program, `?` for a function of no module.
    public var module: String
    public var name: String

    /// SipHash-2-4 with key 0 of the caller's id (8 bytes, little-endian; 0 for a root), the module, a zero byte and the name.
    public static func id(caller: UInt64, module: String, name: String) -> UInt64 {
        var bytes: [UInt8] = []
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: caller >> shift)) }
        bytes += module.utf8
        bytes.append(0)
        bytes += name.utf8
        return SipHash.hash(bytes)
    }

    /// The stacks of the paths of `content`, in the same order.
    ///
    /// - Complexity: O(paths).
    public static func all(of content: RunContent) -> [FleetStack] {
        var stacks: [FleetStack] = []
        stacks.reserveCapacity(content.paths.count)
        for path in content.paths {
            let identity = content.functions[path.function].identity
            let caller = path.caller < 0 ? nil : stacks[path.caller], module = identity.module ?? "?"
            stacks.append(
                FleetStack(
                    id: id(caller: caller?.id ?? 0, module: module, name: identity.name), caller: path.caller,
                    depth: caller.map { $0.depth + 1 } ?? 0, module: module, name: identity.name))
        }
        return stacks
    }
}
