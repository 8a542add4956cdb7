internal import Glibc

/// Writes all of `bytes`, and goes on after signals.
///
/// - Returns: 0, or the errno that says why it is not all written.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
        let written = write(descriptor, start, rest.count)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return written < 0 ? errno : ENOSPC }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
    return 0
}

/// Writes all of `bytes` from `place` on, and goes on after signals.
///
/// - Returns: 0, or the errno that says why it is not all written.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at place: Int) -> Int32 {
    var rest = bytes, place = place
    while let start = rest.baseAddress, !rest.isEmpty {
        let written = pwrite(descriptor, start, rest.count, off_t(place))
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return written < 0 ? errno : ENOSPC }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        place += written
    }
    return 0
}
