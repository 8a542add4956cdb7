internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// The `functions` file: which functions record options name, by module. Traced processes map it and copy from it.
///
/// The head is mapped here. Tables are appended by writing, so that a full disk is an error and not a signal.
package final class SharedFunctions: @unchecked Sendable {
    private let head: UnsafeMutablePointer<fathom_functions>
    private let descriptor: Int32
    /// Nil for a file that others remove.
    private let directory: SessionDirectory?
    /// How many ticks so many nanoseconds are.
    private let ticks: (UInt64) -> UInt64
    private var end = Int(FATHOM_FUNCTIONS_HEAD)
    private var known: Set<UInt64> = []
    private var answered: UInt32 = 0
    private var triggers: [FunctionRule.Trigger: UInt32] = [:]
    private var layouts: [ArgumentLayout: UInt32] = [:]
    /// The next free places among the triggers: of those with limits, and of the others.
    private var nextLimit = 0, nextTrigger = Int(FATHOM_LIMIT_LIMIT)
    private static let name = SessionFile.functions.name

    /// - Parameters:
    ///   - all: everything that is done with any function.
    ///   - conditions: how long calls have to take for each condition on arguments, in ns.
    /// - Throws: ``SessionFileError``.
    package convenience init(
        in directory: SessionDirectory, all: FunctionRule, levels: UInt32, textLimit: UInt32,
        conditions: [UInt64] = [], clock: SessionClock
    ) throws(SessionFileError) {
        try self.init(
            directory.create(Self.name, O_RDWR), at: directory.file(Self.name), in: directory,
            ticks: clock.ticks(nanoseconds:), all: all)
        head.pointee.text_limit = textLimit
        if !conditions.isEmpty { head.pointee.says |= FATHOM_SAYS_CONDITIONS }
        withUnsafeMutableBytes(of: &head.pointee.condition_ticks) { ticks in
            for (index, time) in conditions.prefix(Int(FATHOM_CONDITION_LIMIT)).enumerated() {
                ticks.storeBytes(of: clock.ticks(nanoseconds: time), toByteOffset: index * 8, as: UInt64.self)
            }
        }
        head.pointee.levels = levels
        head.pointee.trigger_does = all.trigger.actions.rawValue
        head.pointee.magic = FATHOM_FUNCTIONS_MAGIC
    }

    /// A file of a session that another process records. No recorder answers requests that are made in it.
    ///
    /// - Parameter all: which must have neither triggers nor arguments or results.
    convenience init(new path: String, all: FunctionRule) throws(SessionFileError) {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .cannotCreate(path: path, errno: errno) }
        try self.init(file, at: path, in: nil, ticks: { $0 }, all: all)
        head.pointee.is_final = 1
        head.pointee.magic = FATHOM_FUNCTIONS_MAGIC
    }

    private init(
        _ file: Int32, at path: String, in directory: SessionDirectory?, ticks: @escaping (UInt64) -> UInt64,
        all: FunctionRule
    ) throws(SessionFileError) {
        self.directory = directory
        self.ticks = ticks
        let size = Int(FATHOM_FUNCTIONS_HEAD)
        descriptor = file
        let error = [UInt8](repeating: 0, count: size).withUnsafeBytes { writeAll($0, to: file) }
        guard error == 0 else { throw .cannotCreate(path: path, errno: error) }
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else { throw .noSharedMemory(path: path, errno: errno) }
        head = memory.assumingMemoryBound(to: fathom_functions.self)
        head.pointee.version = FATHOM_FUNCTIONS_VERSION
        head.pointee.head_size = FATHOM_FUNCTIONS_HEAD
        head.pointee.says =
            all.selection.rawValue | (all.trigger.actions.isEmpty ? 0 : FATHOM_SAYS_TRIGGER)
            | (all.recordsArguments ? FATHOM_SAYS_ARGUMENTS : 0)
            | (all.recordsResults ? FATHOM_SAYS_RESULTS : 0) | (all.entryByte == nil ? 0 : FATHOM_SAYS_FIRST_CALL)
            | (all.hasDetour ? FATHOM_SAYS_DETOURS : 0)
    }

    deinit {
        munmap(head, Int(FATHOM_FUNCTIONS_HEAD))
        close(descriptor)
    }

    package func remove() { directory?.remove(Self.name) }

    // MARK: Tables

    /// Tells the functions of a module, once; nil: they cannot be read.
    package func tell(_ functions: [NamedFunction]?, of module: ModuleFile) {
        let path = Array(module.path.utf8)
        let key = fathom_module_key(module.buildID, module.buildID.count, path, path.count)
        let count = known.count
        guard count < Int(FATHOM_TABLE_LIMIT), known.insert(key).inserted else { return }
        var table = fathom_function_table(
            key: key, offset: UInt64(end), words: FATHOM_TABLE_UNKNOWN, names_size: 0, arguments_size: 0,
            detours: 0)
        if let functions {
            let words = functions.filter { !$0.rule.isEmpty }.flatMap { function in
                let says = says(function.rule)
                return function.addresses.map { $0 << UInt64(FATHOM_SAYS_BITS) | UInt64(says) }
            }
            let names = Self.names(of: functions), arguments = arguments(of: functions)
            let detours = Self.detours(of: functions)
            let bytes = words.withUnsafeBytes { Array($0) } + names + arguments + detours.bytes
            if write(bytes) {
                table.detours = UInt32(detours.count)
                table.words = UInt32(words.count)
                table.names_size = UInt32(names.count)
                table.arguments_size = UInt32(arguments.count)
                end += bytes.count
            }
        }
        withUnsafeMutableBytes(of: &head.pointee.tables) {
            $0.storeBytes(
                of: table, toByteOffset: count * MemoryLayout<fathom_function_table>.stride,
                as: fathom_function_table.self)
        }
        fathom_store32(&head.pointee.table_count, UInt32(count + 1))
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        guard lseek(descriptor, off_t(end), SEEK_SET) >= 0 else { return false }
        return bytes.withUnsafeBytes { writeAll($0, to: descriptor) } == 0
    }

    /// The low bits of a function's words.
    private func says(_ rule: FunctionRule) -> UInt32 {
        if let byte = rule.entryByte { return FATHOM_SAYS_FIRST_CALL | UInt32(byte) }
        return rule.selection.rawValue | number(rule.trigger) << UInt32(FATHOM_SAYS_TRIGGER_SHIFT)
            | (rule.recordsArguments ? FATHOM_SAYS_ARGUMENTS : 0)
            | (rule.recordsResults ? FATHOM_SAYS_RESULTS : 0)
    }

    /// A trigger's place + 1; 0 for one that does nothing, or when there are too many different ones.
    private func number(_ trigger: FunctionRule.Trigger) -> UInt32 {
        if trigger.actions.isEmpty { return 0 }
        if let known = triggers[trigger] { return known }
        let isLimit = !trigger.actions.isDisjoint(with: [.depth, .minCost])
        let place = isLimit ? nextLimit : nextTrigger
        guard place < Int(isLimit ? FATHOM_LIMIT_LIMIT : FATHOM_TRIGGER_LIMIT) else { return 0 }
        if isLimit { nextLimit += 1 } else { nextTrigger += 1 }
        let raw = fathom_trigger(
            does: trigger.actions.rawValue, levels: trigger.levels,
            min_cost_ticks: ticks(trigger.minCost))
        withUnsafeMutableBytes(of: &head.pointee.triggers) {
            $0.storeBytes(of: raw, toByteOffset: place * MemoryLayout<fathom_trigger>.stride, as: fathom_trigger.self)
        }
        triggers[trigger] = UInt32(place + 1)
        return UInt32(place + 1)
    }

    /// The names of functions with a mark, as they stand behind a table's words.
    private static func names(of functions: [NamedFunction]) -> [UInt8] {
        var bytes: [UInt8] = []
        for function in functions where function.rule.trigger.actions.contains(.mark) {
            let text = Array(function.name.utf8.prefix(Int(FATHOM_NAME_LIMIT)))
            for address in function.addresses {
                let head = fathom_function_name(address: address, size: UInt32(text.count), reserved: 0)
                withUnsafeBytes(of: head) { bytes += $0 }
                bytes += padded(text)
            }
        }
        return bytes
    }

    /// Functions with detours, as they stand behind the arguments.
    private static func detours(of functions: [NamedFunction]) -> (count: Int, bytes: [UInt8]) {
        let raw = functions.compactMap { function in
            function.detour.map {
                var detour = fathom_detour()
                detour.address = function.addresses[0]
                detour.has_hooks = function.hasHooks ? 1 : 0
                withUnsafeMutableBytes(of: &detour.code) { [code = $0] bytes in
                    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: code >> UInt64(8 * index)) }
                }
                return detour
            }
        }.sorted { $0.address < $1.address }
        return (raw.count, raw.withUnsafeBytes { Array($0) })
    }

    // MARK: Arguments

    /// What is recorded of the arguments of functions, as it stands behind their names: sites, steps and layouts. Layouts
    /// that another module's table has have been told with it, but perhaps to another process.
    private func arguments(of functions: [NamedFunction]) -> [UInt8] {
        let recipes = functions.flatMap(\.arguments)
            .sorted { ($0.returnAddress, $0.function) < ($1.returnAddress, $1.function) }
        guard !recipes.isEmpty else { return [] }
        var sites: [UInt8] = [], steps: [UInt8] = [], layoutBytes: [UInt8] = []
        var told: [ArgumentSteps: UInt32] = [:], described: Set<UInt32> = []
        for recipe in recipes {
            let place = told[recipe.steps] ?? UInt32(steps.count)
            if told.updateValue(place, forKey: recipe.steps) == nil { steps += recipe.steps.bytes }
            let id = layouts[recipe.layout] ?? UInt32(layouts.count + 1)
            layouts[recipe.layout] = id
            if described.insert(id).inserted {
                let text = Array(recipe.layout.text.utf8.prefix(Int(FATHOM_LAYOUT_LIMIT)))
                withUnsafeBytes(of: fathom_layout(id: id, size: UInt32(text.count))) { layoutBytes += $0 }
                layoutBytes += Self.padded(text)
            }
            let site = fathom_argument_site(
                return_address: recipe.returnAddress, function: recipe.function, steps: place, layout: id)
            withUnsafeBytes(of: site) { sites += $0 }
        }
        let head = fathom_arguments(
            sites: UInt32(recipes.count), steps_size: UInt32(steps.count), layouts_size: UInt32(layoutBytes.count),
            reserved: 0)
        return withUnsafeBytes(of: head) { Array($0) } + sites + Self.padded(steps) + layoutBytes
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }

    // MARK: Requests

    /// The next module that a process asks for; nil when none asks.
    package func nextRequest() -> ModuleFile? {
        let number = answered &+ 1
        guard Int32(bitPattern: fathom_load32(&head.pointee.requested) &- number) >= 0 else { return nil }
        let place = Int((number &- 1) % FATHOM_REQUEST_LIMIT)
        return withUnsafeMutableBytes(of: &head.pointee.requests) { requests -> ModuleFile? in
            let size = MemoryLayout<fathom_function_request>.stride
            let request = UnsafeMutableRawBufferPointer(rebasing: requests[(place * size)..<((place + 1) * size)])
            let word = request.baseAddress!.assumingMemoryBound(to: UInt32.self)
            // A process that was killed meanwhile leaves its request half made.
            for _ in 0..<100 where fathom_load32(word) != number { usleep(1000) }
            let raw = request.loadUnaligned(as: fathom_function_request.self)
            let text = request[MemoryLayout<fathom_function_request>.offset(of: \.text)!...]
            let (idSize, pathSize) = (Int(raw.build_id_size), Int(raw.path_size))
            guard fathom_load32(word) == number, idSize + pathSize <= text.count else {
                return ModuleFile(path: "", buildID: [])
            }
            return ModuleFile(
                path: String(decoding: text.dropFirst(idSize).prefix(pathSize), as: UTF8.self),
                buildID: Array(text.prefix(idSize)))
        }
    }

    /// Notes that a table was written in answer to the request.
    package func finishRequest() {
        answered &+= 1
        fathom_store32(&head.pointee.answered, answered)
        fathom_wake_all32(&head.pointee.answered)
    }

    /// Waits for a request, or for ``wake()``.
    package func wait() {
        let requested = fathom_load32(&head.pointee.requested)
        if requested == answered { fathom_wait32(&head.pointee.requested, requested, 100_000_000) }
    }

    package func wake() { fathom_wake32(&head.pointee.requested) }
}
