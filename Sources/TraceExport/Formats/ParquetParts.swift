internal import TraceAnalysis
internal import TraceFile

/// A row's thread, in four columns.
struct ParquetThread {
    static let columns: [ParquetColumn] = [.integer("pid"), .word("process"), .integer("tid"), .word("thread")]

    fileprivate let pid: UInt32
    fileprivate let process: UInt32
    fileprivate let tid: UInt32
    fileprivate let name: UInt32

    /// - Parameter words: gets the names of the process and the thread.
    init(_ process: TracedProcess, tid: UInt32, name: String, _ words: inout NumberedTexts) {
        pid = process.pid
        self.process = words.number(of: process.programName)
        self.tid = tid
        self.name = words.number(of: name)
    }
}

/// A row's function, in four columns. `module` and `file` are empty, and `line` is 0, where they are not known.
struct ParquetFunction {
    static let columns: [ParquetColumn] = [.word("name"), .word("module"), .word("file"), .integer("line")]

    fileprivate let name: UInt32
    fileprivate let module: UInt32
    fileprivate let file: UInt32
    fileprivate let line: UInt64

    init(_ function: ResolvedFunction, _ words: inout NumberedTexts) {
        name = words.number(of: function.name)
        module = words.number(of: function.module ?? "")
        file = words.number(of: function.file ?? "")
        line = UInt64(max(function.line, 0))
    }
}

extension ParquetFile {
    mutating func add(_ thread: ParquetThread) {
        add(UInt64(thread.pid))
        add(word: thread.process)
        add(UInt64(thread.tid))
        add(word: thread.name)
    }

    mutating func add(_ function: ParquetFunction) {
        add(word: function.name)
        add(word: function.module)
        add(word: function.file)
        add(function.line)
    }
}

/// The functions of a Parquet file, by function id.
struct ParquetFunctions {
    private var known: [ParquetFunction?] = []

    /// - Complexity: O(1) for a function seen before.
    mutating func function(
        _ id: UInt32, _ function: @autoclosure () -> ResolvedFunction, _ words: inout NumberedTexts
    ) -> ParquetFunction {
        let index = Int(id)
        if index >= known.count { known += Array(repeating: nil, count: index + 1 - known.count) }
        if let known = known[index] { return known }
        let new = ParquetFunction(function(), &words)
        known[index] = new
        return new
    }
}
