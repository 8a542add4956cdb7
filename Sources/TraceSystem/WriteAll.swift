internal import Glibc

/// Writes all of `bytes`, and goes on after signals.
///
/// - Parameter place: where in the file, in bytes; nil: where the descriptor stands, which moves on.
/// - Returns: 0, or the errno that says why it is not all written.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at place: Int? = nil) -> Int32 {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
        let done = bytes.count - rest.count
        let written =
            place.map { pwrite(descriptor, start, rest.count, off_t($0 + done)) }
            ?? write(descriptor, start, rest.count)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return written < 0 ? errno : ENOSPC }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
    return 0
}

/// The bytes of a file from `place` on, as many as there are of `most`; reading goes on after signals.
package func readAll(_ most: Int, from descriptor: Int32, at place: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
        while count < most {
            let got = pread(descriptor, buffer.baseAddress! + count, most - count, off_t(place + count))
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return }
            count += got
        }
    }
}
