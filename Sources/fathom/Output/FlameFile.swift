internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFindings
internal import TraceReports

/// The file a flame graph is drawn into: a picture if its name ends in .svg, else a page; or what the format asks for.
struct FlameFile {
    /// A page, a picture, or the data that a page shows.
    enum Format: String, CaseIterable { case html, svg, json }

    private let path: String
    private let format: Format

    /// Endings of what is neither: who asks for one of them would not get it.
    private static let others: Set<String> = [
        "apng", "avif", "bmp", "csv", "eps", "gif", "gz", "heic", "ico", "jpeg", "jpg", "json", "jxl", "md", "parquet",
        "pdf", "pb", "png", "ppm", "ps", "svgz", "tif", "tiff", "tsv", "txt", "webp", "xml", "zip", "zst",
    ]

    /// - Throws: bad usage when the name is that of another type of file.
    init(_ path: String, _ format: Format? = nil) throws {
        self.path = path
        let ending = FileName.ending(path)
        if let format {
            let known = Format(rawValue: ending == "htm" ? "html" : ending)
            if known != format, known != nil || FlameFile.others.contains(ending) {
                throw ValidationError("-o \(path): --format \(format.rawValue) is no file of .\(ending)")
            }
            self.format = format
            return
        }
        if FlameFile.others.contains(ending) {
            throw ValidationError(
                "-o \(path): flame graphs are pages or SVG pictures: end the name in .html or .svg, not .\(ending)")
        }
        self.format = ending == "svg" ? .svg : .html
    }

    /// Draws the differential flame graph.
    ///
    /// - Throws: an exit status, the reason said, when there is nothing to draw, or it cannot be written.
    func draw(_ comparison: SessionComparison, options: FlameGraph.Options) throws {
        let graph = FlameGraph(comparison, options: options)
        guard !graph.isEmpty else { throw Diagnostics.fail("nothing of what is after is left to draw", .nothing) }
        try draw(graph)
    }

    /// - Throws: exit status 2, the reason said, when it cannot be written.
    func draw(_ graph: FlameGraph) throws {
        let file = try OutputFile(path)
        switch format {
        case .html: graph.writeHTML(to: file.writer)
        case .svg: graph.writeSVG(to: file.writer)
        case .json: graph.writeJSON(to: file.writer)
        }
        try file.finish()
    }
}
