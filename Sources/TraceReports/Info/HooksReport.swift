public import TraceText

/// Tells which functions of programs and libraries have hooks.
public struct HooksReport: Report {
    public struct Module {
        public var path: String
        /// By address.
        public var functions: [(name: String, isHooked: Bool)]
        /// Whether the functions of libraries that are linked in are among these.
        public var includesLibraries: Bool

        public init(path: String, functions: [(name: String, isHooked: Bool)], includesLibraries: Bool) {
            self.path = path
            self.functions = functions
            self.includesLibraries = includesLibraries
        }

        var summary: String {
            HooksReport.summary(
                path: path, hooked: functions.count { $0.isHooked }, of: functions.count,
                includesLibraries: includesLibraries)
        }
    }

    /// `34 of 36 functions of lua have hooks`, of those that it defines, which are also what it has from headers
    ///
    /// - Parameters:
    ///   - path: of the program or library.
    ///   - includesLibraries: whether libraries are linked into it, and their functions counted.
    public static func summary(path: String, hooked: Int, of count: Int, includesLibraries: Bool) -> String {
        "\(CountText.grouped(UInt64(hooked))) of \(CountText.grouped(UInt64(count))) functions of \(PathText.name(path))"
            + "\(includesLibraries ? ", and of the libraries linked into it," : "") have hooks"
    }

    private let modules: [Module]

    public init(_ modules: [Module]) { self.modules = modules }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    /// A line a function, those with hooks marked with a plus.
    private func writeText(to writer: ByteWriter) {
        for module in modules {
            writer.write("# \(module.summary.visible): \(module.path.visible)\n")
            for function in module.functions {
                writer.write((function.isHooked ? "+ " : "- ") + function.name.visible + "\n")
            }
        }
    }

    /// `{"modules":[{"path","functions":[{"name","hooked"}]}]}`
    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.objects("modules", modules) { module in
                json.field("path", module.path)
                json.objects("functions", module.functions) { function in
                    json.field("name", function.name)
                    json.field("hooked", function.isHooked)
                }
            }
        }
    }
}
