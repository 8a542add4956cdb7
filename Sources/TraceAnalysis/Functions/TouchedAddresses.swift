public import TraceFile

/// The addresses that sessions tell of, by the module that each lies in. Whoever knows their names can show the sessions.
public struct TouchedAddresses {
    /// The addresses in one module's file.
    public struct Module {
        /// Of functions that were called, or that samples found.
        public var functions: Set<UInt64> = []
        /// Of the instructions that called.
        public var sites: Set<UInt64> = []
        /// Of what threads waited for.
        public var objects: Set<UInt64> = []
    }

    public private(set) var modules: [ModuleIdentity: Module] = [:]

    /// Looks for the addresses of all calls of `sessions`.
    ///
    /// - Complexity: O(records), some nanoseconds each, on one processor.
    public init(of sessions: [Session]) { sessions.forEach { add($0) } }

    private mutating func add(_ session: Session) {
        for process in session.processes {
            var sink = TouchSink()
            defer { sink.free() }
            for thread in process.threads {
                if thread.keepsPaths {
                    sink.add(pathsOf: thread)
                } else {
                    StackReplay.run(thread, clock: session.clock, into: &sink)
                }
            }
            if let start = process.start {
                for part in start.initializers + [start.preparation, start.main].compactMap(\.self) {
                    sink.add(function: part.function)
                }
            }
            let modules = Mappings(process.modules)
            modules.forEach(sink.functionAddresses) { self.modules[$0, default: Module()].functions.insert($1) }
            // What lies before the address that a call returns to is a part of the call.
            modules.forEach(sink.siteAddresses.lazy.filter { $0 > 0 }.map { $0 - 1 }) {
                self.modules[$0, default: Module()].sites.insert($1)
            }
            modules.forEach(sink.objects) { self.modules[$0, default: Module()].objects.insert($1) }
        }
    }
}

/// Where modules were mapped; several may have had an address one after the other.
private struct Mappings {
    private let modules: [Module]

    init(_ modules: [Module]) { self.modules = modules }

    /// Passes each address in each module's file that it may have been.
    func forEach(_ addresses: some Sequence<UInt64>, _ body: (ModuleIdentity, UInt64) -> Void) {
        let identities = modules.map { ModuleIdentity(path: $0.path, buildID: $0.buildID) }
        for address in addresses {
            for (module, identity) in zip(modules, identities) where module.low <= address && address < module.high {
                body(identity, address &- module.bias)
            }
        }
    }
}

/// Notes each address once.
private struct TouchSink: CallSink {
    struct Payload: BitwiseCopyable {}

    private var functions = FunctionKeys()
    private var sites = FunctionKeys()
    private(set) var objects: Set<UInt64> = []

    func free() {
        functions.free()
        sites.free()
    }

    var functionAddresses: some Sequence<UInt64> {
        (1..<functions.count).lazy.map { functions[UInt32($0)].pointee.address }
    }
    var siteAddresses: some Sequence<UInt64> { (1..<sites.count).lazy.map { sites[UInt32($0)].pointee.address } }

    mutating func add(function: UInt64) { _ = functions.number(function, 0) }

    mutating func add(pathsOf thread: TracedThread) {
        for index in thread.chunks.indices where thread.payloadIsIntact(ofChunk: index) {
            thread.chunks[index].pathUnits?.forEach { _, unit in
                if unit.kind == .path { _ = functions.number(unit.function, 0) }
            }
            thread.release(chunk: index)
        }
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        _ = functions.number(call.pointee.function, 0)
        _ = sites.number(call.pointee.callSite, 0)
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        switch told {
        case .wait(let wait), .wake(let wait): objects.insert(wait.object)
        default: break
        }
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {}
    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
