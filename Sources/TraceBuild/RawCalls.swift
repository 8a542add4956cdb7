internal import Glibc
internal import TraceText

// Swift hands a String to these functions of the C library as UTF-8. Where the String is a name that holds other bytes, those
// of this module's own that are called the same hand it on as it was (see TraceText, RawText.swift).

func access(_ path: String, _ mode: Int32) -> Int32 { path.withRawCString { Glibc.access($0, mode) } }

func open(_ path: String, _ flags: Int32) -> Int32 { path.withRawCString { Glibc.open($0, flags) } }

func fopen(_ path: String, _ mode: String) -> UnsafeMutablePointer<FILE>? {
    path.withRawCString { Glibc.fopen($0, mode) }
}

func stat(_ path: String, _ status: inout Glibc.stat) -> Int32 {
    path.withRawCString { fstatat(AT_FDCWD, $0, &status, 0) }
}

func lstat(_ path: String, _ status: inout Glibc.stat) -> Int32 { path.withRawCString { Glibc.lstat($0, &status) } }

@discardableResult func mkdir(_ path: String, _ mode: mode_t) -> Int32 {
    path.withRawCString { Glibc.mkdir($0, mode) }
}

@discardableResult func unlink(_ path: String) -> Int32 { path.withRawCString { Glibc.unlink($0) } }

@discardableResult func rmdir(_ path: String) -> Int32 { path.withRawCString { Glibc.rmdir($0) } }

@discardableResult func rename(_ path: String, _ new: String) -> Int32 {
    path.withRawCString { path in new.withRawCString { Glibc.rename(path, $0) } }
}

@discardableResult func symlink(_ target: String, _ path: String) -> Int32 {
    target.withRawCString { target in path.withRawCString { Glibc.symlink(target, $0) } }
}

@discardableResult func setenv(_ name: String, _ value: String, _ overwrite: Int32) -> Int32 {
    value.withRawCString { Glibc.setenv(name, $0, overwrite) }
}

func fnmatch(_ glob: String, _ text: String, _ flags: Int32) -> Int32 {
    glob.withRawCString { glob in text.withRawCString { Glibc.fnmatch(glob, $0, flags) } }
}

/// Makes a file or directory of a name that ends in XXXXXX, by `make`.
///
/// - Returns: What that returns, and the name.
func temporary<Result>(_ template: String, _ make: (UnsafeMutablePointer<CChar>) -> Result) -> (Result, String) {
    var name = template.rawCString
    let result = name.withUnsafeMutableBufferPointer { make($0.baseAddress!) }
    return (result, name.withUnsafeBufferPointer { String(rawCString: $0.baseAddress!) })
}
