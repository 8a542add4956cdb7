internal import Glibc

/// Where the parts of Fathom lie.
enum Installation {
    /// The running executable.
    static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "fathom" }
        defer { free(path) }
        return String(cString: path)
    }

    /// libfathom.so, beside it.
    static var runtimeLibrary: String {
        guard executable.contains("/") else { return "libfathom.so" }
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
