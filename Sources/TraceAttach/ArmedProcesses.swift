internal import CThreadStop
internal import Glibc
internal import TraceSymbols
internal import TraceWatch

/// Makes processes that wait to be recorded (`fathom arm`) take up what is asked of them. While their sleds are closed, no
/// hook does.
public enum ArmedProcesses {
    /// Whether this process may trace those that it starts.
    public static var mayBeTraced: Bool { fathom_may_trace() != 0 }

    /// Makes these take it up, as far as they have sleds. Only one thread at a time may call this.
    public static func heed(_ pids: [Int32]) {
        for pid in pids { heed(pid) }
    }

    private static func heed(_ pid: Int32) {
        let standstills = Standstills()
        for _ in 0..<50 {
            guard let memory = ProcessMemory(pid, writes: true), let debug = LinkMap.place(in: pid, memory),
                let map = LinkMap(debug, memory), let places = CodePlaces(pid, map, memory),
                let stacks = NativeStacks(of: pid, load: { memory.load($0) })
            else { return }
            let sleds = stacks.modules.compactMap { SledModule($0) }
            if sleds.isEmpty { return }
            let process = RuntimeProcess(pid, debug, memory, places, stacks, sleds, standstills)
            if let process, process.call("fathom_heed") { return }
            usleep(10_000)
            standstills.release()
        }
    }
}
