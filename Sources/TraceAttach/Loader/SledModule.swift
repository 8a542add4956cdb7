internal import TraceSymbols
internal import TraceWatch

/// A module of a process that was built with sleds.
struct SledModule {
    private let module: NativeModule
    private let sleds: Sleds

    /// Nil when it has none.
    init?(_ module: NativeModule) {
        guard module.path.hasPrefix("/"), let sleds = try? Sleds(path: module.path), sleds.stubs != nil else {
            return nil
        }
        self.module = module
        self.sleds = sleds
    }

    /// What leads from its open sleds to the runtime.
    func stubs(_ size: UInt64) -> Range<UInt64> {
        let start = (sleds.stubs ?? 0) &+ module.bias
        return start..<start &+ size
    }

    /// Makes its sleds what they are in the file. No thread runs meanwhile: a sled is one instruction, so none is within it.
    func close(in memory: ProcessMemory) {
        for (address, bytes) in sleds.bytes {
            let place = address &+ module.bias
            guard memory.array(place, count: bytes.count, of: UInt8.self) != bytes else { continue }
            _ = bytes.withUnsafeBytes { memory.write($0, at: place) }
        }
    }
}
