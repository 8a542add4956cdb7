internal import Glibc

/// Keeps what was written to standard error while something ran, until it is known whether the user is to see it.
struct HeldDiagnostics {
    /// What `body` returned.
    let status: Int32
    private let text: [UInt8]

    /// Runs `body`. When there is no room for a file, its messages are shown at once.
    init(_ body: () throws(BuildError) -> Int32) throws(BuildError) {
        guard let file = tmpfile() else {
            (status, text) = (try body(), [])
            return
        }
        defer { fclose(file) }
        let descriptor = fileno(file)
        let real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        guard real >= 0, dup2(descriptor, STDERR_FILENO) >= 0 else {
            if real >= 0 { close(real) }
            (status, text) = (try body(), [])
            return
        }
        defer { close(real) }
        do throws(BuildError) {
            status = try body()
            dup2(real, STDERR_FILENO)
        } catch {
            dup2(real, STDERR_FILENO)
            throw error
        }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while case let count = pread(descriptor, &buffer, buffer.count, off_t(text.count)), count > 0 {
            text += buffer[..<count]
        }
        self.text = text
    }

    /// Writes what was kept to standard error.
    func release() {
        var rest = text[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
