/// Which processes are alive. Each is asked about once.
package struct LivingProcesses {
    private var known: [UInt32: Bool] = [:]

    package init() {}

    package mutating func contains(_ pid: UInt32) -> Bool {
        if let isAlive = known[pid] { return isAlive }
        let isAlive = processIsAlive(Int32(bitPattern: pid))
        known[pid] = isAlive
        return isAlive
    }

    /// Whether a process was asked about and was gone.
    package func knowsGone(_ pid: UInt32) -> Bool { known[pid] == false }

    /// Those that were asked about and are alive.
    package var found: [Int32] { known.filter { $0.value }.map { Int32(bitPattern: $0.key) }.sorted() }
}
