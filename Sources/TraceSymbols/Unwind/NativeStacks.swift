internal import CElfutils
internal import Glibc

/// The call stacks of a running process's threads, rebuilt from their unwind tables (libdwfl of elfutils).
///
/// This class neither stops threads nor reads their registers and memory. Its user stops them, hands in the registers,
/// and reads the memory. Only one thread may use an instance at a time.
public final class NativeStacks {
    /// Reads a word of the process's memory; nil when nothing is there.
    public typealias Load = (_ address: UInt64) -> UInt64?

    private let pid: Int32
    let load: Load
    private let dwfl: OpaquePointer
    private let callbacks = UnsafeMutablePointer<Dwfl_Callbacks>.allocate(capacity: 1)
    private let threadCallbacks = UnsafeMutablePointer<Dwfl_Thread_Callbacks>.allocate(capacity: 1)
    private var symbols: [UInt64: ModuleSymbols] = [:]
    private var found: [UInt64: NativeSymbol] = [:]
    /// When the modules were looked at last.
    private var reported = time(nil)
    /// The registers of the thread that is being unwound.
    private var registers = NativeRegisters(stackPointer: 0, programCounter: 0)
    private var frames: [NativeFrame] = []
    /// The stack pointers of the frames that ``frames(of:_:most:)`` has found last; 0 where one is not known.
    public private(set) var stackPointers: [UInt64] = []
    #if arch(x86_64)
        private static let stackPointer: UInt32 = 7
    #else
        private static let stackPointer: UInt32 = 31
    #endif
    private var most = 0

    /// Nil when the process is not there, or may not be looked into.
    public init?(of pid: Int32, load: @escaping Load) {
        self.pid = pid
        self.load = load
        callbacks.initialize(to: Dwfl_Callbacks())
        callbacks.pointee.find_elf = dwfl_linux_proc_find_elf
        // Unwinding needs only what is loaded. Nothing is looked for elsewhere, least of all in a network.
        callbacks.pointee.find_debuginfo = { _, _, _, _, _, _, _, _ in -1 }
        threadCallbacks.initialize(to: Dwfl_Thread_Callbacks())
        guard let dwfl = dwfl_begin(callbacks) else {
            callbacks.deallocate()
            threadCallbacks.deallocate()
            return nil
        }
        self.dwfl = dwfl
        threadCallbacks.pointee.next_thread = { _, _, _ in 0 }
        threadCallbacks.pointee.get_thread = { _, _, argument, thread in
            thread?.pointee = argument
            return true
        }
        threadCallbacks.pointee.memory_read = { _, address, result, argument in
            guard let value = NativeStacks.from(argument!).load(address) else { return false }
            result?.pointee = value
            return true
        }
        threadCallbacks.pointee.set_initial_registers = { thread, argument in
            NativeStacks.from(argument!).set(on: thread!)
        }
        guard dwfl_linux_proc_report(dwfl, pid) == 0, dwfl_report_end(dwfl, nil, nil) == 0,
            dwfl_attach_state(dwfl, nil, pid, threadCallbacks, Unmanaged.passUnretained(self).toOpaque())
        else { return nil }
    }

    deinit {
        dwfl_end(dwfl)
        callbacks.deallocate()
        threadCallbacks.deallocate()
    }

    private static func from(_ argument: UnsafeMutableRawPointer) -> NativeStacks {
        Unmanaged<NativeStacks>.fromOpaque(argument).takeUnretainedValue()
    }

    private func set(on thread: OpaquePointer) -> Bool {
        dwfl_thread_state_register_pc(thread, registers.programCounter)
        for (number, value) in registers.values {
            var value = value
            if !dwfl_thread_state_registers(thread, number, 1, &value) { return false }
        }
        return true
    }

    /// The frames of a thread, innermost first.
    ///
    /// - Parameters:
    ///   - registers: those of the innermost frame.
    ///   - most: the number of frames after which to stop.
    /// - Returns: The frames, and whether they lead up to where the thread began.
    public func frames(
        of tid: Int32, _ registers: NativeRegisters, most: Int = 512
    ) -> (frames: [NativeFrame], isWhole: Bool) {
        lookAgainIfNeeded(for: registers.programCounter)
        self.registers = registers
        self.most = most
        frames = []
        stackPointers = []
        let status = dwfl_getthread_frames(
            dwfl, tid,
            { state, argument in
                let stacks = NativeStacks.from(argument!)
                var address: Dwarf_Addr = 0, isActivation = false
                guard dwfl_frame_pc(state!, &address, &isActivation) else { return Int32(DWARF_CB_ABORT) }
                stacks.frames.append(NativeFrame(address: address, isExact: isActivation))
                var pointer: Dwarf_Word = 0
                let isKnown = dwfl_frame_reg(state!, NativeStacks.stackPointer, &pointer) == 0
                stacks.stackPointers.append(isKnown ? pointer : 0)
                return Int32(stacks.frames.count < stacks.most ? DWARF_CB_OK : DWARF_CB_ABORT)
            }, Unmanaged.passUnretained(self).toOpaque())
        return (frames, status == 0)
    }

    /// Looks at the modules again if `address` is in none of them: a library may have been loaded.
    private func lookAgainIfNeeded(for address: UInt64) {
        guard dwfl_addrmodule(dwfl, address) == nil, time(nil) != reported else { return }
        lookAgain()
    }

    /// Looks at the modules anew.
    public func lookAgain() {
        reported = time(nil)
        dwfl_report_begin(dwfl)
        _ = dwfl_linux_proc_report(dwfl, pid)
        _ = dwfl_report_end(dwfl, nil, nil)
        found = [:]
    }

    /// The function that a frame is in; nil when no module is there.
    public func symbol(at frame: NativeFrame) -> NativeSymbol? {
        if let known = found[frame.lookup] { return known }
        guard let module = module(at: frame.lookup) else { return nil }
        let symbols = self.symbols[module.low] ?? ModuleSymbols(path: module.path, buildID: module.buildID)
        self.symbols[module.low] = symbols
        let symbol = symbols.symbol(at: frame.lookup &- module.bias, lines: false)
        let known = NativeSymbol(
            name: symbol.name, isKnown: symbol.isKnown, start: symbol.start &+ module.bias, isProgram: module.isProgram)
        found[frame.lookup] = known
        return known
    }

    /// The modules of the process.
    public var modules: [NativeModule] {
        var addresses: [UInt64] = []
        withUnsafeMutablePointer(to: &addresses) { addresses in
            _ = dwfl_getmodules(
                dwfl,
                { _, _, _, start, argument in
                    argument!.assumingMemoryBound(to: [UInt64].self).pointee.append(start)
                    return Int32(DWARF_CB_OK)
                }, addresses, 0)
        }
        return addresses.compactMap(module)
    }

    private func module(at address: UInt64) -> NativeModule? {
        guard let module = dwfl_addrmodule(dwfl, address) else { return nil }
        var low: Dwarf_Addr = 0, high: Dwarf_Addr = 0, bias: Dwarf_Addr = 0, mainFile: UnsafePointer<CChar>?
        let name = dwfl_module_info(module, nil, &low, &high, nil, nil, &mainFile, nil)
        guard dwfl_module_getelf(module, &bias) != nil else { return nil }
        var bytes: UnsafePointer<UInt8>?, place: Dwarf_Addr = 0
        let size = dwfl_module_build_id(module, &bytes, &place)
        let buildID = bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(max(size, 0)))) } ?? []
        let path = (mainFile ?? name).map { String(cString: $0) } ?? ""
        return NativeModule(
            path: path, buildID: buildID, bias: bias, low: low, high: high, isProgram: path == program)
    }

    private lazy var program: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(readlink("/proc/\(pid)/exe", &path, path.count), 0)
        return String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
