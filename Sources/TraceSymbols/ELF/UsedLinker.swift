internal import CElfutils

/// The linker that made a file, as far as it says so: LLVM's and mold leave their names among those of compilers, gold a note of its
/// own. GNU's leaves nothing, and is what is left where compilers are named.
public enum UsedLinker: String, Sendable {
    case lld, gold, bfd, mold

    /// Nil when the file does not tell, or cannot be read.
    public init?(of path: String) {
        guard let file = try? ELFFile(path: path) else { return nil }
        if file.section(named: ".note.gnu.gold-version") != nil {
            self = .gold
            return
        }
        guard let section = file.section(named: ".comment"), let data = section.data, let bytes = data.pointee.d_buf
        else {
            return nil
        }
        let texts = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size).split(separator: 0).map {
            String(decoding: $0, as: UTF8.self)
        }
        if texts.contains(where: { $0.hasPrefix("Linker: LLD") }) {
            self = .lld
        } else if texts.contains(where: { $0.hasPrefix("mold ") }) {
            self = .mold
        } else {
            self = .bfd
        }
    }
}
