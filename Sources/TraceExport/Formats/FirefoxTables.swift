internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// What the time of a function is spent in: a colour of the Firefox Profiler's.
enum FirefoxCategory: Int, CaseIterable {
    case program
    case libraries
    /// A task did not run.
    case waiting
    /// Nothing is known of where it is.
    case other

    func writeFields(_ json: JSONWriter) {
        let (name, colour) =
            switch self {
            case .program: ("Program", "yellow")
            case .libraries: ("Libraries", "lightblue")
            case .waiting: ("Waiting", "transparent")
            case .other: ("Other", "grey")
            }
        json.field("name", name)
        json.field("color", colour)
        json.field("subcategories", ["Other"])
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
    func write(_ json: JSONWriter) {
        json.objects("counters", counters, .each) { counter in
            let values = counter.values.enumerated().sorted {
                ($0.element.moment, $0.offset) < ($1.element.moment, $1.offset)
            }.map(\.element)
            json.field("name", counter.name)
            json.field("category", "counter")
            json.field("description", counter.name)
            json.field("color", "blue")
            json.field("pid", "\(counter.pid)")
            json.field("mainThreadIndex", counter.thread)
            json.object("samples") {
                json.field("length", values.count)
                json.array("time", values) { json.bytes.write(milliseconds: $0.moment) }
                json.field("count", zip([0] + values.map(\.value), values.map(\.value)).map { $1 - $0 })
            }
        }
    }
}

/// The tables that all threads of a profile share: libraries, functions with their files, stacks and strings.
struct FirefoxTables {
    private let json: JSONWriter
    private let source: ExportSource
    private let functions: [ResolvedFunction]
    private let ids: [UInt32]
    private var strings: NumberedTexts
    private var libraries: [ModuleIdentity] = []
    private var libraryNumbers: [Int32: Int] = [:]
    private var files = NumberedTexts()
    private let programs: Set<String>

    /// - Parameter names: of marks and counters, the first strings.
    init(_ json: JSONWriter, _ source: ExportSource, _ frames: FrameNumbers, names: NumberedTexts) {
        self.json = json
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
        json.line().objects("libs", libraries, .each) { writeFields(of: $0) }
        json.line().object("shared") {
            json.field("stringArray", strings.texts)
            let count = functions.count
            json.line().object("funcTable") {
                json.field("length", count)
                json.field("name", names)
                json.columns(["isJS": "false", "relevantForJS": "false"], count)
                json.field("resource", resources.map { $0 ?? -1 })
                json.field("source", sources)
                json.array("lineNumber", functions) { json.value($0.line > 0 ? $0.line : nil) }
                json.columns(["columnNumber": "null"], count)
            }
            // A function and its one frame have the same number.
            json.line().object("frameTable") {
                json.field("length", count)
                json.field("func", Array(0..<count))
                json.array("category", 0..<count) { json.value(category(of: $0).rawValue) }
                json.columns(["address": "-1", "inlineDepth": "0", "subcategory": "0"], count)
                json.columns(["nativeSymbol": "null", "innerWindowID": "0", "line": "null", "column": "null"], count)
            }
            json.line().object("stackTable") {
                json.field("length", stacks.count)
                json.array("frame", stacks) { json.value($0.frame) }
                json.array("prefix", stacks) { json.value($0.prefix < 0 ? nil : $0.prefix) }
            }
            json.line().field(
                "nativeSymbols", raw: #"{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0}"#)
            json.line().object("resourceTable") {
                json.field("length", libraries.count)
                json.field("lib", Array(libraries.indices))
                json.field("name", libraryNames)
                // Type 1 stands for a library.
                json.columns(["host": "null", "type": "1"], libraries.count)
            }
            json.line().object("sources") {
                json.field("length", fileNames.count)
                json.field("filename", fileNames)
                json.columns(
                    ["id": "null", "startLine": "1", "startColumn": "1", "sourceMapURL": "null"], fileNames.count)
            }
        }
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

    private func writeFields(of library: ModuleIdentity) {
        let name = FirefoxTables.lastComponent(library.path)
        json.field("arch", "")
        json.field("name", name)
        json.field("path", library.path)
        json.field("debugName", name)
        json.field("debugPath", library.path)
        json.field("breakpadId", FirefoxTables.breakpadID(library.buildID))
        json.field("codeId", library.buildID.hexadecimal)
    }

    /// The id by which symbol servers know a library: the first 16 bytes of its build id as a GUID, whose first three numbers
    /// are little-endian, and an age of 0.
    private static func breakpadID(_ buildID: [UInt8]) -> String {
        let bytes = (buildID + Array(repeating: 0, count: 16)).prefix(16)
        let order = [3, 2, 1, 0, 5, 4, 7, 6] + Array(8..<16)
        return order.map { bytes[$0] }.hexadecimal.uppercased() + "0"
    }
}
