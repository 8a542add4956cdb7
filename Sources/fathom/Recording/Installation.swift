internal import Glibc

/// Where the parts of Fathom lie.
enum Installation {
    /// libfathom.so, beside the running executable.
    static var runtimeLibrary: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "libfathom.so" }
        defer { free(path) }
        let executable = String(cString: path)
        return executable.prefix(through: executable.lastIndex(of: "/")!) + "libfathom.so"
    }
}

extension Installation {
    /// What a static link needs beside the program's own objects.
    static var staticLinkArguments: String {
        let directory = runtimeLibrary.prefix(through: runtimeLibrary.lastIndex(of: "/")!)
        return "@\(directory)libfathom.static"
    }
}
