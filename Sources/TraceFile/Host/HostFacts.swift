internal import Glibc

/// What a session says about the machine it was made on.
struct HostFacts {
    var name: String
    var kernel: String
    var cpu: String
    var directory: String

    init() {
        var system = utsname()
        uname(&system)
        name = Self.text(of: &system.nodename)
        kernel = "\(Self.text(of: &system.sysname)) \(Self.text(of: &system.release)) \(Self.text(of: &system.machine))"
        cpu = SystemFile.value(of: "model name", in: "/proc/cpuinfo") ?? Self.text(of: &system.machine)
        if let path = getcwd(nil, 0) {
            directory = String(cString: path)
            free(path)
        } else {
            directory = ""
        }
    }

    private static func text<T>(of field: inout T) -> String {
        withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
