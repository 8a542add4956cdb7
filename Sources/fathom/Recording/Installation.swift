internal import CArguments
internal import Glibc
internal import TraceBuild

/// Where the parts of Fathom lie.
enum Installation {
    /// The running executable.
    static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) ?? realpath(fathom_executed_path(), nil) else {
            return "fathom"
        }
        defer { free(path) }
        return String(cString: path)
    }

    /// libfathom.so, beside it.
    static var runtimeLibrary: String { beside("libfathom.so") }

    /// What goes into builds of Swift code.
    static var swiftTools: SwiftBuild.Tools {
        SwiftBuild.Tools(
            program: executable, hooks: beside("libfathom-swift.o"),
            staticRuntime: beside("libfathom.static"))
    }

    /// What goes into shared libraries of C and C++.
    static var sharedLibraryHooks: String { beside("libfathom-shared.o") }

    private static func beside(_ name: String) -> String {
        guard let slash = executable.lastIndex(of: "/") else { return name }
        return executable[...slash] + name
    }
}

extension Installation {
    /// What a static link needs beside the program's own objects.
    static var staticLinkArguments: String { "@" + beside("libfathom.static") }
}
