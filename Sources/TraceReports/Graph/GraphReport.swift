public import TraceAnalysis
public import TraceText

/// Call paths as trees: all of them, or those that lead to a function and on from it.
public struct GraphReport: Report {
    private let trees: [(name: String, tree: CallPathTree)]
    private let function: String?
    private let options: GraphText.Options

    /// - Parameters:
    ///   - trees: by the names that JSON gives them.
    ///   - function: that the trees lead to and from, as it was asked for; nil where the tree is of all paths.
    public init(_ trees: [(name: String, tree: CallPathTree)], around function: String?, _ options: GraphText.Options) {
        self.trees = trees
        self.function = function
        self.options = options
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json:
            GraphJSON(writer, options).write(trees)
        }
    }

    private func writeText(to writer: ByteWriter) {
        var graph = GraphText(writer, options: options)
        for (index, part) in trees.enumerated() {
            if index > 0 { writer.write(byte: UInt8(ascii: "\n")) }
            if let function { graph.write(title: part.name == "callers" ? "to \(function)" : "from \(function)") }
            graph.write(part.tree)
        }
    }
}
