internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// What the samples of OpenTelemetry's profiles share: each thing once, meant by its place. The first of each table stands for nothing.
struct OTLPTables {
    private let functions: FunctionTable
    private var strings = NumberedTexts()
    private var mappings = Table(), locations = Table(), functionTable = Table(), attributes = Table(),
        stacks = Table(), links = Table()
    /// The place of each function's location, and of those of remainders.
    private var known: [UInt32: UInt64] = [:]
    private var remainders: [PathRemainder: UInt64] = [:]
    /// The places of stacks, by the caller's stack and the callee's location.
    private var stackPlaces: [SIMD2<UInt64>: UInt64] = [:]
    /// The path that was asked for last, from its root: stacks and their innermost locations.
    private var open: [(stack: UInt64, location: UInt64, link: UInt64)] = []
    /// The places of the links that scopes name, by function.
    private var linkPlaces: [UInt32: UInt64] = [:]
    /// Where each module lay in the first process that had it.
    private let mapped: [ModuleIdentity: Module]
    private var mappingPlaces: [Int32: UInt64] = [:]

    private struct Table {
        private var messages: [ProtobufMessage] = [ProtobufMessage()]
        private var places: [[UInt8]: UInt64] = [:]

        /// The place of a new one.
        mutating func add(_ message: ProtobufMessage) -> UInt64 {
            messages.append(message)
            return UInt64(messages.count) - 1
        }

        /// The place of one that may be there already.
        mutating func place(of message: ProtobufMessage) -> UInt64 {
            if let known = places[message.bytes] { return known }
            let place = add(message)
            places[message.bytes] = place
            return place
        }

        func write(_ field: UInt64, to message: inout ProtobufMessage) {
            for one in messages { message.add(field, one) }
        }
    }

    init(_ source: ExportSource) {
        functions = source.functions
        mapped = source.mappedModules
        _ = string("")
    }

    /// What there is a number of in each stack.
    var counted: String { functions.counted }

    mutating func string(_ text: String) -> UInt64 { UInt64(strings.number(of: text)) }

    /// The attributes of the samples of `group`.
    mutating func attributes(of group: ThreadGroup) -> [UInt64] {
        var name = ProtobufMessage()
        name.add(1, group.name)
        var places = [attribute("thread.name", name)]
        if let tid = group.tid {
            var number = ProtobufMessage()
            number.add(3, UInt64(tid))
            places.append(attribute("thread.id", number))
        }
        return places
    }

    private mutating func attribute(_ key: String, _ value: ProtobufMessage) -> UInt64 {
        var message = ProtobufMessage()
        message.add(1, string(key))
        message.add(2, value)
        return attributes.place(of: message)
    }

    /// The stack of path `index`. Paths are asked for in their order, each caller before its callees.
    mutating func stack(of index: Int, in tree: CallPathTree) -> UInt64 {
        let path = tree.paths[index]
        open.removeLast(open.count - Int(path.depth))
        let location = location(of: path.function)
        let stack = stack(below: open.last?.stack ?? 0, location)
        open.append((stack, location, linkPlaces[path.function] ?? link))
        return stack
    }

    /// The link of the path that was asked for last: of the innermost scope that names a span.
    var link: UInt64 { open.last?.link ?? 0 }

    /// The stack of what stands for callees of the path that was asked for last.
    mutating func stack(of remainder: PathRemainder) -> UInt64 {
        let location: UInt64
        if let known = remainders[remainder] {
            location = known
        } else {
            location = makeLocation(ResolvedFunction(name: remainder.name, module: nil, file: nil, line: 0), at: nil)
            remainders[remainder] = location
        }
        return stack(below: open[open.count - 1].stack, location)
    }

    /// The stack of a callee of the last open path.
    private mutating func stack(below caller: UInt64, _ location: UInt64) -> UInt64 {
        let key = SIMD2(caller, location)
        if let known = stackPlaces[key] { return known }
        var message = ProtobufMessage()
        // Locations begin with the innermost call.
        message.add(1, packed: [location] + open.reversed().map(\.location))
        let place = stacks.add(message)
        stackPlaces[key] = place
        return place
    }

    private mutating func location(of function: UInt32) -> UInt64 {
        if let known = known[function] { return known }
        let place = makeLocation(functions[function], at: functions.functions[Int(function)])
        known[function] = place
        if let context = SpanContext(scope: functions[function].name) {
            var message = ProtobufMessage()
            message.add(1, bytes: context.trace)
            message.add(2, bytes: context.span)
            linkPlaces[function] = links.place(of: message)
        }
        return place
    }

    private mutating func makeLocation(_ resolved: ResolvedFunction, at place: FunctionTable.Function?) -> UInt64 {
        let start = UInt64(max(resolved.line, 0))
        var function = ProtobufMessage()
        function.add(1, string(resolved.name))
        function.add(3, string(resolved.file ?? ""))
        function.add(4, start)
        var line = ProtobufMessage()
        line.add(1, functionTable.place(of: function))
        line.add(2, start)
        var location = ProtobufMessage()
        if let place, place.module >= 0, resolved.module != nil {
            let identity = functions.modules[Int(place.module)]
            if let mapping = mapping(of: place.module, identity) {
                location.add(1, mapping)
                location.add(2, place.address &+ (mapped[identity]?.bias ?? 0))
            }
        }
        location.add(3, line)
        return locations.place(of: location)
    }

    /// The place of the module's mapping; nil when no process had the module mapped.
    private mutating func mapping(of module: Int32, _ identity: ModuleIdentity) -> UInt64? {
        if let known = mappingPlaces[module] { return known }
        guard let found = mapped[identity] else { return nil }
        var message = ProtobufMessage()
        message.add(1, found.low)
        message.add(2, found.high)
        message.add(4, string(found.path))
        if !found.buildID.isEmpty {
            var id = ProtobufMessage()
            id.add(1, found.buildID.hexadecimal)
            message.add(5, packed: [attribute("process.executable.build_id.gnu", id)])
        }
        let place = mappings.place(of: message)
        mappingPlaces[module] = place
        return place
    }

    /// The `ProfilesDictionary`.
    var message: ProtobufMessage {
        var message = ProtobufMessage()
        mappings.write(1, to: &message)
        locations.write(2, to: &message)
        functionTable.write(3, to: &message)
        links.write(4, to: &message)
        for text in strings.texts { message.add(5, text) }
        attributes.write(6, to: &message)
        stacks.write(7, to: &message)
        return message
    }
}
