internal import Glibc
internal import TraceReports
internal import TraceSystem
internal import TraceText

/// An order of functions as each linker reads it, in a directory that is there while a build runs.
struct OrderDirectory {
    let path: String

    /// - Parameter file: what `fathom order` has written, for whichever linker.
    /// - Throws: exit status 1, the reason said.
    init(of file: String) throws {
        guard let stream = fopen(file, "re") else {
            throw Diagnostics.fail("\(file): \(String(cString: strerror(errno)))", .nothing)
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let size = fread(&piece, 1, piece.count, stream), size > 0 { bytes += piece[..<size] }
        fclose(stream)
        guard let functions = OrderFile.functions(in: String(decoding: bytes, as: UTF8.self)) else {
            throw Diagnostics.fail("\(file): is no order of functions, as fathom order writes it", .nothing)
        }
        do throws(SystemError) { path = try Directory.makeTemporary("fathom-order", in: "/tmp") } catch {
            throw Diagnostics.fail(error.description, .nothing)
        }
        for linker in OrderFile.Linker.allCases {
            let output = try OutputFile("\(path)/order.\(linker.rawValue)")
            OrderFile(for: linker).write(functions, to: output.writer)
            try output.finish()
        }
    }

    func remove() {
        Directory.remove(path)
    }
}
