internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// What the time of a function is spent in: a colour of the Firefox Profiler's.
enum FirefoxCategory: Int, CaseIterable, CustomStringConvertible {
    case program
    case libraries
    /// A task did not run.
    case waiting
    /// Nothing is known of where it is.
    case other

    var description: String {
        let (name, colour) =
            switch self {
            case .program: ("Program", "yellow")
            case .libraries: ("Libraries", "lightblue")
            case .waiting: ("Waiting", "transparent")
            case .other: ("Other", "grey")
            }
        return "{\"name\":\"\(name)\",\"color\":\"\(colour)\",\"subcategories\":[\"Other\"]}"
    }
}

/// The counters of a profile. A counter belongs to a process, and its times grow over all threads.
struct FirefoxCounters {
    private struct Counter {
        var name: String
        var pid: UInt32
        /// The first thread that set it.
        var thread: Int
        var values: [(moment: UInt64, value: Double)] = []
    }

    private var counters: [Counter] = []
    /// The indices of counters, by the process's and the name's number.
    private var indices: [UInt32: [UInt32: Int]] = [:]

    /// - Parameter number: of the name.
    mutating func add(
        _ name: String, _ number: UInt32, _ value: Double, at moment: UInt64, of process: TracedProcess, thread: Int
    ) {
        let index = indices[process.index]?[number] ?? counters.count
        if index == counters.count {
            indices[process.index, default: [:]][number] = index
            counters.append(Counter(name: name, pid: process.pid, thread: thread))
        }
        counters[index].values.append((moment, value))
    }

    /// Writes them as a member of the profile. The format has differences from the value before.
    func write(to writer: ByteWriter) {
        writer.write("\"counters\":" as StaticString)
        writer.write(column: counters) { counter in
            let values = counter.values.enumerated().sorted {
                ($0.element.moment, $0.offset) < ($1.element.moment, $1.offset)
            }.map(\.element)
            writer.write("\n{\"name\":" as StaticString)
            writer.write(json: counter.name)
            writer.write(",\"category\":\"counter\",\"description\":" as StaticString)
            writer.write(json: counter.name)
            writer.write(",\"color\":\"blue\",\"pid\":\"\(counter.pid)\",\"mainThreadIndex\":\(counter.thread),")
            writer.write("\"samples\":{\"length\":\(values.count),\"time\":")
            writer.write(column: values) { writer.write(milliseconds: $0.moment) }
            writer.write(",\"count\":" as StaticString)
            writer.write(column: zip([0] + values.map(\.value), values.map(\.value)).map { $1 - $0 }) {
                writer.write($0.json)
            }
            writer.write("}}" as StaticString)
        }
        writer.write(",\n" as StaticString)
    }
}

/// The tables that all threads of a profile share: libraries, functions with their files, stacks and strings.
struct FirefoxTables {
    private let writer: ByteWriter
    private let source: ExportSource
    private let functions: [ResolvedFunction]
    private let ids: [UInt32]
    private var strings: NumberedTexts
    private var libraries: [ModuleIdentity] = []
    private var libraryNumbers: [Int32: Int] = [:]
    private var files = NumberedTexts()
    private let programs: Set<String>

    /// - Parameter names: of marks and counters, the first strings.
    init(_ writer: ByteWriter, _ source: ExportSource, _ frames: FrameNumbers, names: NumberedTexts) {
        self.writer = writer
        self.source = source
        strings = names
        ids = frames.functions
        functions = frames.functions.map { source.functions[$0] }
        programs = Set(source.selection.map(\.process.path))
    }

    /// Writes the libraries and `shared`, as the last members of the profile.
    mutating func write(stacks: [(frame: Int32, prefix: Int32)]) {
        let names = functions.map { strings.number(of: $0.name) }
        let resources = ids.map { library(of: $0) }
        let sources = functions.map { $0.file.map { files.number(of: $0) } }
        let libraryNames = libraries.map { strings.number(of: FirefoxTables.lastComponent($0.path)) }
        let fileNames = files.texts.map { strings.number(of: $0) }
        writer.write("\"libs\":" as StaticString)
        writer.write(column: libraries) { write(library: $0) }
        writer.write(",\n\"shared\":{\"stringArray\":" as StaticString)
        writer.write(column: strings.texts) { writer.write(json: $0) }
        let count = functions.count
        writer.write(",\n\"funcTable\":{\"length\":\(count),\"name\":")
        writer.write(column: names) { writer.write(decimal: UInt64($0)) }
        writer.write(constants: ["isJS": "false", "relevantForJS": "false"], count)
        writer.write(",\"resource\":" as StaticString)
        writer.write(column: resources) { writer.write($0.map { "\($0)" } ?? "-1") }
        writer.write(",\"source\":" as StaticString)
        writer.write(column: sources) { writer.write($0.map { "\($0)" } ?? "null") }
        writer.write(",\"lineNumber\":" as StaticString)
        writer.write(column: functions) { writer.write($0.line > 0 ? "\($0.line)" : "null") }
        writer.write(constants: ["columnNumber": "null"], count)
        // A function and its one frame have the same number.
        writer.write("},\n\"frameTable\":{\"length\":\(count),\"func\":")
        writer.write(column: 0..<count) { writer.write(decimal: UInt64($0)) }
        writer.write(",\"category\":" as StaticString)
        writer.write(column: 0..<count) { writer.write(decimal: UInt64(category(of: $0).rawValue)) }
        writer.write(constants: ["address": "-1", "inlineDepth": "0", "subcategory": "0"], count)
        writer.write(
            constants: ["nativeSymbol": "null", "innerWindowID": "0", "line": "null", "column": "null"], count)
        writer.write("},\n\"stackTable\":{\"length\":\(stacks.count),\"frame\":")
        writer.write(column: stacks) { writer.write(decimal: UInt64($0.frame)) }
        writer.write(",\"prefix\":" as StaticString)
        writer.write(column: stacks) { writer.write($0.prefix < 0 ? "null" : "\($0.prefix)") }
        writer.write("},\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],")
        writer.write("\"length\":0},\n\"resourceTable\":{\"length\":\(libraries.count),\"lib\":")
        writer.write(column: libraries.indices) { writer.write(decimal: UInt64($0)) }
        writer.write(",\"name\":" as StaticString)
        writer.write(column: libraryNames) { writer.write(decimal: UInt64($0)) }
        // Type 1 stands for a library.
        writer.write(constants: ["host": "null", "type": "1"], libraries.count)
        writer.write("},\n\"sources\":{\"length\":\(fileNames.count),\"filename\":")
        writer.write(column: fileNames) { writer.write(decimal: UInt64($0)) }
        writer.write(
            constants: ["id": "null", "startLine": "1", "startColumn": "1", "sourceMapURL": "null"], fileNames.count)
        writer.write("}}" as StaticString)
    }

    /// The library of function `id`; nil when its module is not known.
    private mutating func library(of id: UInt32) -> Int? {
        let module = source.functions.functions[Int(id)].module
        guard module >= 0, source.functions[id].module != nil else { return nil }
        if let known = libraryNumbers[module] { return known }
        libraryNumbers[module] = libraries.count
        libraries.append(source.functions.modules[Int(module)])
        return libraries.count - 1
    }

    private func category(of frame: Int) -> FirefoxCategory {
        if ids[frame] == source.functions.suspended { return .waiting }
        guard let module = functions[frame].module else { return .other }
        return programs.contains(module) ? .program : .libraries
    }

    private static func lastComponent(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
    }

    private func write(library: ModuleIdentity) {
        let name = FirefoxTables.lastComponent(library.path)
        let buildID = library.buildID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        writer.write("\n{\"arch\":\"\",\"name\":" as StaticString)
        writer.write(json: name)
        writer.write(",\"path\":" as StaticString)
        writer.write(json: library.path)
        writer.write(",\"debugName\":" as StaticString)
        writer.write(json: name)
        writer.write(",\"debugPath\":" as StaticString)
        writer.write(json: library.path)
        writer.write(",\"breakpadId\":\"\(FirefoxTables.breakpadID(library.buildID))\",\"codeId\":\"\(buildID)\"}")
    }

    /// The id by which symbol servers know a library: the first 16 bytes of its build id as a GUID, whose first three numbers
    /// are little-endian, and an age of 0.
    private static func breakpadID(_ buildID: [UInt8]) -> String {
        let bytes = (buildID + Array(repeating: 0, count: 16)).prefix(16)
        let order = [3, 2, 1, 0, 5, 4, 7, 6] + Array(8..<16)
        return order.map { (bytes[$0] < 16 ? "0" : "") + String(bytes[$0], radix: 16, uppercase: true) }.joined() + "0"
    }
}
