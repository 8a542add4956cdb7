internal import CRustNames
internal import Glibc

/// Turns a linkage name into one that people read. C++, Swift and Rust names are demangled; any other stays as it is.
///
/// What compilers append to a clone's name (`.cold`, `.constprop.0`) stays at the end.
///
/// - Parameter spoken: whether C++ names are as people write them, such as `std::vector<int>`, without what the
///   compiler fills in.
public func demangle(_ linkageName: String, spoken: Bool = true) -> String {
    // ELF symbols may end with a version: memcpy@@GLIBC_2.14.
    let name = linkageName.utf8.firstIndex(of: UInt8(ascii: "@")).map { linkageName[..<$0] } ?? linkageName[...]
    if spoken {
        // The functions that initialise a file's variables have the name of some function in it.
        for (mark, words) in keyedNames where name.hasPrefix(mark + "_Z") {
            return words + demangle(String(name.dropFirst(mark.count)))
        }
    }
    guard let prefix = prefixes.first(where: { name.hasPrefix($0) }) else { return String(name) }
    // A legacy name of Rust's ends with a hash; only such names are C++'s as well.
    if prefix == "_R" || (prefix == "_Z" && strstr(linkageName, "17h") != nil),
        let rust = onDeepStack(if: name.utf8.count >= longName, { demangleRust(String(name)) })
    {
        return rust
    }
    let suffix = name.utf8.firstIndex(of: UInt8(ascii: ".")) ?? name.endIndex
    let mangled = String(name[..<suffix])
    let demangled =
        prefix != "_Z"
        ? demangleSwift(mangled).map(SwiftMacroName.spelt)
        : onDeepStack(if: mangled.utf8.count >= longName) {
            (demangleCXX(mangled) ?? CXXMangledName.readable(mangled)).map {
                CXXName.withoutParameters(spoken ? CXXSpokenName.of($0) : $0)
            }
        }
    return demangled.map { $0 + name[suffix...] } ?? String(name)
}

/// libstdc++ reads no name of this many bytes.
private let longName = 1024

/// The prefixes of mangled names: of C++ and Rust, Rust, Swift 5, Swift 4.
private let prefixes = ["_Z", "_R", "$s", "_$s", "$S", "_T0"]

/// gcc's marks, and c++filt's words for them.
private let keyedNames = [
    ("_GLOBAL__sub_I_", "global constructors keyed to "), ("_GLOBAL__sub_D_", "global destructors keyed to "),
]

/// `__cxa_demangle` of libstdc++.
func demangleCXX(_ name: String) -> String? {
    var status: Int32 = 0
    guard let text = cxaDemangle(name, nil, nil, &status) else { return nil }
    defer { free(text) }
    return status == 0 ? String(cString: text) : nil
}

/// libiberty's reader of Rust's names, without their hashes, and without what LLVM appends (`.llvm.123`). nil: it is no such
/// name, or stands for more than 10,000 bytes, which nobody would read.
func demangleRust(_ name: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 10_000) { room in
        let size = rust_name(name, room.baseAddress, room.count)
        return size == 0 ? nil : String(decoding: UnsafeRawBufferPointer(room)[..<size], as: UTF8.self)
    }
}

func demangleSwift(_ name: String) -> String? {
    guard let text = swiftDemangle(name, UInt(name.utf8.count), nil, nil, 0) else { return nil }
    defer { free(text) }
    return String(cString: text)
}

/// Itanium C++ ABI, section 3.4.
@_silgen_name("__cxa_demangle")
private func cxaDemangle(
    _ name: UnsafePointer<CChar>, _ buffer: UnsafeMutablePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
    _ status: UnsafeMutablePointer<Int32>
) -> UnsafeMutablePointer<CChar>?

/// Exported by libswiftCore.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
