internal import Glibc
public import TraceSymbols

/// The program and the libraries that it needs, each with which of its functions have hooks.
///
/// - Throws: when the program cannot be read; a library that cannot be is left out.
public func hookedModules(of program: String) throws(SymbolProblem) -> [(path: String, functions: HookedFunctions)] {
    let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
    return try HookedFunctions.modules(of: program, libraryPath: libraryPath)
}
