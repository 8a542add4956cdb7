internal import Glibc

/// Opens a file to read it. A pipe without a writer is an empty file: nobody is to wait for one.
///
/// - Returns: A descriptor, or -1 and errno.
func openWithoutWaiting(_ path: String) -> Int32 { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
