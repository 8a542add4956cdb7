internal import Glibc
internal import TraceBuild
internal import TraceFile
internal import TraceSymbols
internal import TraceText

/// A program without hooks of which it is known where it has them, or that it had them.
struct BareProgram {
    /// What to do, without the program's path.
    let description: String

    /// - Returns: Nil where nothing is known of it.
    init?(at path: String) {
        if let hooked = Self.besidePackage(path) {
            let product = hooked.path
            description =
                "has no hooks, because it was built without Fathom; record \(product), which fathom build has made"
                + (hooked.isOther ? " in the other configuration" : "")
                + "; or make it anew: fathom build -- swift build\(path.contains("/release/") ? " -c release" : "")"
        } else if let session = Self.recording(of: path) {
            description =
                "has no hooks any more: it had when \(session) was recorded, and was built without Fathom since; clean the build "
                + "tree and build it through Fathom again, as by fathom build -- make"
        } else {
            return nil
        }
    }

    /// The same product of a Swift package as Fathom builds it, where there is one.
    private static func besidePackage(_ path: String) -> (path: String, isOther: Bool)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let place = parts.lastIndex(of: ".build"), place + 2 < parts.count,
            parts[place + 1] != SwiftPackage.ownScratch
        else { return nil }
        // The same configuration, or else the other one.
        let rest = parts[(place + 1)...].map(String.init)
        let other = rest.map { ["debug": "release", "release": "debug"][$0] ?? $0 }
        return [(rest, false), (other, true)].map { rest, isOther in
            ((parts[...place].map(String.init) + [SwiftPackage.ownScratch] + rest).joined(separator: "/"), isOther)
        }.first { path, _ in (try? ExecutableInspection.inspect(path: path))?.isInstrumented == true }
    }

    /// The session that a recording of the program is called when nobody names it, where that is one of all calls.
    private static func recording(of path: String) -> String? {
        let name = SessionName.of(path)
        guard let program = realPath(path), let session = try? Session(path: name), let options = session.description,
            options.option(.samplePeriod) == nil, options.option(.mode) != RecordOptions.Mode.firstCalls.rawValue
        else { return nil }
        let hadHooks = session.processes.contains { !$0.threads.isEmpty && realPath($0.path) == program }
        return hadHooks ? name : nil
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = path.withRawCString({ realpath($0, nil) }) else { return nil }
        defer { free(resolved) }
        return String(rawCString: resolved)
    }
}
