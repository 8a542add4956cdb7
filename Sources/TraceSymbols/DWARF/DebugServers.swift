internal import Glibc

/// The servers that `DEBUGINFOD_URLS` names, asked by the client library of elfutils (debuginfod_find_debuginfo(3)), which keeps what
/// they give in the user's cache.
///
/// The library is loaded when it is needed: few systems have it, and nobody is asked unless the user has set the variable.
public final class DebugServers {
    private typealias Begin = @convention(c) () -> OpaquePointer?
    private typealias End = @convention(c) (OpaquePointer?) -> Void
    private typealias Find =
        @convention(c) (
            OpaquePointer?, UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32
    private typealias Progress = @convention(c) (OpaquePointer?, Int, Int) -> Int32
    private typealias SetProgress = @convention(c) (OpaquePointer?, Progress?) -> Void
    private typealias SetData = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void
    private typealias Data = @convention(c) (OpaquePointer?) -> UnsafeMutableRawPointer?

    private let say: (String) -> Void
    private let onProgress: (Double) -> Void
    private var client: OpaquePointer?
    private var isTried = false
    private var library: UnsafeMutableRawPointer?
    /// What was found, by build-id; nil: the servers do not have it.
    private var known: [[UInt8]: String?] = [:]
    private var deadline = 0
    private var isLate = false

    /// The time that one file may take, in seconds.
    private static let patience = 60

    /// - Parameters:
    ///   - say: takes one line about what is wrong.
    ///   - progress: takes how far a transfer is, 0...1.
    /// - Returns: nil where the user has set no servers.
    public init?(say: @escaping (String) -> Void, progress: @escaping (Double) -> Void) {
        guard let urls = getenv("DEBUGINFOD_URLS"), String(cString: urls).contains(where: { $0 != " " }) else {
            return nil
        }
        self.say = say
        onProgress = progress
    }

    deinit { if let client, let end = function("debuginfod_end", as: End.self) { end(client) } }

    /// The path of a file that holds the module's debug information; nil when the servers have none, or cannot be asked.
    func find(_ buildID: [UInt8]) -> String? {
        if buildID.isEmpty { return nil }
        if let answer = known[buildID] { return answer }
        let answer = ask(buildID)
        known[buildID] = .some(answer)
        return answer
    }

    private func ask(_ buildID: [UInt8]) -> String? {
        guard let client = begun(), let find = function("debuginfod_find_debuginfo", as: Find.self) else { return nil }
        deadline = time(nil) + Self.patience
        isLate = false
        defer { onProgress(1) }
        var path: UnsafeMutablePointer<CChar>?
        let descriptor = find(client, buildID, Int32(buildID.count), &path)
        defer { free(path) }
        if descriptor >= 0 {
            close(descriptor)
            return path.map { String(cString: $0) }
        }
        if descriptor == -ENOENT { return nil }
        // Who does not answer is not asked again, module by module.
        let reason = isLate ? "no answer in \(Self.patience) seconds" : String(cString: strerror(-descriptor))
        say("the servers in DEBUGINFOD_URLS cannot be asked for debug information (\(reason)): it is left out")
        end()
        return nil
    }

    private func begun() -> OpaquePointer? {
        if isTried { return client }
        isTried = true
        library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL)
        guard library != nil, let begin = function("debuginfod_begin", as: Begin.self) else {
            say(
                "DEBUGINFOD_URLS is set, and libdebuginfod.so.1 is not there to ask the servers: install it (Debian's libdebuginfod1), or unset the variable"
            )
            return nil
        }
        client = begin()
        function("debuginfod_set_user_data", as: SetData.self)?(client, Unmanaged.passUnretained(self).toOpaque())
        function("debuginfod_set_progressfn", as: SetProgress.self)?(client) { client, done, all in
            guard let library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_NOLOAD),
                let found = dlsym(library, "debuginfod_get_user_data")
            else { return 0 }
            defer { dlclose(library) }
            guard let data = unsafeBitCast(found, to: Data.self)(client) else { return 0 }
            return Unmanaged<DebugServers>.fromOpaque(data).takeUnretainedValue().note(done, of: all) ? 0 : 1
        }
        return client
    }

    private func end() {
        if let client { function("debuginfod_end", as: End.self)?(client) }
        client = nil
    }

    /// - Returns: Whether to go on.
    private func note(_ done: Int, of all: Int) -> Bool {
        if all > 0 { onProgress(min(Double(done) / Double(all), 0.999)) }
        isLate = time(nil) > deadline
        return !isLate
    }

    private func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        library.flatMap { dlsym($0, name) }.map { unsafeBitCast($0, to: type) }
    }
}
