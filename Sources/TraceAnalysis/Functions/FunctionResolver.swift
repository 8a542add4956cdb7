public import TraceFile

/// The address spaces of a session's processes over one function table.
public final class FunctionResolver {
    public let functions: FunctionTable
    private var spaces: [UInt32: AddressSpace] = [:]

    public init(_ functions: FunctionTable) { self.functions = functions }

    /// The address space of `process`. A fork's child whose modules never differ from its parent's shares the parent's.
    public func space(of process: TracedProcess) -> AddressSpace {
        if let known = spaces[process.index] { return known }
        let space: AddressSpace
        if process.sharesParentModules, let parent = process.forkParent {
            space = self.space(of: parent)
        } else {
            space = AddressSpace(process.modules, names: process.names, functions: functions)
        }
        spaces[process.index] = space
        return space
    }

    /// Makes the space of a process anew when it is asked for the next time, because more is known of the process.
    func forget(_ process: UInt32) { spaces[process] = nil }
}
