internal import Glibc

/// Writes all of `bytes`.
///
/// - Returns: 0, or the errno that says why it is not all written.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            guard written > 0 else { return written < 0 ? errno : ENOSPC }
            rest = rest.dropFirst(written)
        }
        return 0
    }
}
