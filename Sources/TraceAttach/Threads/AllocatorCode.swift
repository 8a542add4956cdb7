internal import Glibc
internal import TraceSymbols
internal import TraceWatch

/// The code of an allocator that takes the place of the C library's. Whoever runs it may hold the allocator's locks, and the
/// loader calls it.
struct AllocatorCode {
    /// Of modules: where they lie, and which of their code it is; nil: all.
    private let parts: [(module: NativeModule, code: ReachableCode?)]

    private static let names: Set<String> = [
        "malloc", "calloc", "realloc", "free", "memalign", "posix_memalign", "aligned_alloc", "reallocarray", "cfree",
        "valloc", "pvalloc", "malloc_trim", "malloc_usable_size", "malloc_stats", "malloc_info", "mallinfo",
        "mallinfo2", "mallopt", "mallctl", "free_sized", "free_aligned_sized",
    ]
    /// Those of widespread allocators, and C++'s new and delete.
    private static let prefixes = [
        "_Znw", "_Zna", "_Zdl", "_Zda", "tc_", "je_", "mi_", "MallocExtension_", "MallocHook_", "_ZN8tcmalloc",
        "_ZN15MallocExtension", "mallocx", "sdallocx", "dallocx", "rallocx", "xallocx", "nallocx", "mallctl",
    ]

    /// - Complexity: O(functions of the modules that define one).
    init(_ map: LinkMap, _ modules: [NativeModule], _ memory: ProcessMemory) {
        var defining: [LoadedModule] = []
        for name in ["malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign"] {
            guard let (module, _) = map.definition(of: name, except: nil, memory), !module.isSystem,
                !defining.contains(where: { $0.dynamic == module.dynamic })
            else { continue }
            defining.append(module)
        }
        parts = defining.compactMap { loaded in
            guard let module = modules.first(where: { $0.low <= loaded.dynamic && loaded.dynamic < $0.high }) else {
                return nil
            }
            let code = ReachableCode(path: module.path) { name in
                let name = String(cString: name)
                return Self.names.contains(name) || Self.prefixes.contains { name.hasPrefix($0) }
            }
            return (module, code)
        }
    }

    func contains(_ address: UInt64) -> Bool {
        parts.contains { module, code in
            module.low <= address && address < module.high && code?.contains(address &- module.bias) ?? true
        }
    }
}
