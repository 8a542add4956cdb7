public import TraceText

/// How a file is compressed, as the end of its name says.
public enum Compression: Sendable {
    case none
    /// `.gz`, RFC 1952.
    case gzip
    /// `.zst`, RFC 8878.
    case zstd

    public init(ofFile name: String) {
        self =
            switch name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last {
            case "gz": .gzip
            case "zst": .zstd
            default: .none
            }
    }

    /// What compresses onto `output`; nil for ``none``.
    public func compressor(onto output: ByteWriter) -> (any Compressor)? {
        switch self {
        case .none: nil
        case .gzip: GzipWriter(output)
        case .zstd: ZstdWriter(output)
        }
    }
}

/// Compresses bytes and passes them on.
public protocol Compressor: AnyObject {
    /// Takes the bytes to compress.
    var writer: ByteWriter { get }
    /// Compresses what is left. What it wrote onto is not flushed.
    func finish()
}
