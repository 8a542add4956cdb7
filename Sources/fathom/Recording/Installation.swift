internal import Glibc
internal import TraceBuild

/// Where the parts of Fathom lie.
enum Installation {
    /// The running executable.
    static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "fathom" }
        defer { free(path) }
        return String(cString: path)
    }

    /// libfathom.so, beside it.
    static var runtimeLibrary: String { beside("libfathom.so") }

    /// What goes into traced Swift products.
    static var swiftHooks: String { beside("libfathom-swift.o") }

    /// What stands in for the Swift compiler's frontend.
    static var swiftFrontend: String { beside(SwiftBuild.frontendName) }

    private static func beside(_ name: String) -> String {
        guard let slash = executable.lastIndex(of: "/") else { return name }
        return executable[...slash] + name
    }
}

extension Installation {
    /// What a static link needs beside the program's own objects.
    static var staticLinkArguments: String {
        let directory = runtimeLibrary.prefix(through: runtimeLibrary.lastIndex(of: "/")!)
        return "@\(directory)libfathom.static"
    }
}
