internal import CElfutils
internal import Glibc

/// Debug information that compilers leave in files beside the objects (`-gsplit-dwarf`, DWARF 5, 7.3.2).
enum SplitFiles {
    /// Whether those of the module at `path` are in a package (DWARF 5, 7.3.5), as `dwp` calls it, that this libdw cannot read.
    static func havePackage(_ path: String) -> Bool { !readsPackages && access(path + ".dwp", R_OK) == 0 }

    /// Whether this libdw reads packages: elfutils 0.190 and newer.
    private static let readsPackages: Bool = {
        let numbers = dwfl_version(nil).map { String(cString: $0).split(separator: ".").compactMap { Int($0) } } ?? []
        return numbers.count > 1 && (numbers[0], numbers[1]) >= (0, 190)
    }()

    /// One line, without a full stop, that says what is missing of a module and, where that is known, what to do.
    ///
    /// - Parameter names: the first of the files, and how many there are; nil where that is not known any more.
    static func complaint(of path: String, _ names: (name: String, count: Int)?, isPackage: Bool) -> String {
        if isPackage {
            return
                "\(path): its debug information is in \(path).dwp, which libdw of elfutils 0.190 and newer reads: functions have "
                + "no lines; keep the .dwo files where the compiler left them, and record again"
        }
        guard let names else {
            return
                "\(path): its debug information was in split files (.dwo) that could not be read: functions have no lines"
        }
        let others = names.count > 1 ? " and \(names.count - 1) more" : ""
        return
            "\(path): its debug information is in \(names.name)\(others), which cannot be read: functions have no lines"
    }
}
