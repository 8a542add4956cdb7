internal import Glibc
internal import TraceText

/// Opens a file to read it. A pipe without a writer counts as an empty file, so that this never waits for a writer.
///
/// - Returns: A descriptor, or -1 and errno.
func openWithoutWaiting(_ path: String) -> Int32 {
    path.withRawCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
}
