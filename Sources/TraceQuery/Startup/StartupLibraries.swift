internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceSymbols
internal import TraceText

/// The program and the libraries that were there when main was called, and what the dynamic linker had to do for them.
struct StartupLibraries {
    struct Library {
        let module: ModuleIdentity
        /// Its addresses in memory.
        let range: Range<UInt64>
    }

    /// In the order in which they were seen.
    let libraries: [Library]
    let program: ModuleIdentity

    /// - Parameters:
    ///   - process: the one that was started.
    ///   - kernel: what the kernel tells of the start.
    init(_ session: Session, _ process: TracedProcess, _ kernel: KernelStart?) {
        let origin = session.startNanoseconds, main = process.start?.main?.begin.nanoseconds ?? .max
        let early = process.modules.filter {
            session.clock.nanoseconds(at: $0.seenTicks) <= main - min(origin, main)
        }
        var libraries = early.map {
            Library(module: ModuleIdentity(path: $0.path, buildID: $0.buildID), range: $0.low..<$0.high)
        }
        program =
            libraries.first { $0.module.path == process.path }?.module
            ?? ModuleIdentity(path: process.path, buildID: [])
        // Without hooks and the runtime, only the kernel knows the libraries.
        if process.modules.isEmpty, let kernel,
            let begin = StartupTimeline.Moments(kernel, origin: origin, limit: .max).user
        {
            let steps = LoaderSteps(kernel, from: begin + origin, to: kernel.main ?? .max)
            libraries = steps.libraries.filter { $0.path.contains(".so") }.map {
                Library(module: ModuleIdentity(path: $0.path, buildID: []), range: $0.range)
            }
        }
        self.libraries = libraries.filter { [program] library in
            let path = library.module.path
            return path.hasPrefix("/") && path != program.path && !PathText.name(path).hasPrefix("ld-linux")
        }
    }

    /// What the dynamic linker had to do for each of them. Those are left out of which that is not known.
    ///
    /// - Parameters:
    ///   - kept: what the session keeps of a module.
    ///   - read: reads the module's file; nil when that is not there, or may be another one. It is called where nothing is kept.
    func linkages(
        kept: (ModuleIdentity) -> KeptModule.Linkage?, read: (ModuleIdentity) -> DynamicLinkage?
    ) -> [ModuleIdentity: KeptModule.Linkage] {
        let all = Set(libraries.map(\.module) + [program])
        let known = Dictionary(uniqueKeysWithValues: all.compactMap { module in kept(module).map { (module, $0) } })
        if !known.isEmpty { return known }
        let files = Dictionary(uniqueKeysWithValues: all.compactMap { module in read(module).map { (module, $0) } })
        let needed = Set((files[program]?.needed ?? []).map(PathText.name))
        // Whatever is not known may refer to anything.
        let isWhole = files.count == all.count
        return Dictionary(
            uniqueKeysWithValues: files.map { module, file in
                let isUnused =
                    isWhole && module != program && !file.defined.isEmpty
                    && needed.contains(PathText.name(file.name ?? module.path))
                    && files.allSatisfy { $0.key == module || $0.value.undefined.isDisjoint(with: file.defined) }
                return (module, KeptModule.Linkage(relocations: file.relocations, isUnused: isUnused))
            })
    }

    /// Whether a library was preloaded to record.
    static func isOurs(_ path: String) -> Bool { PathText.name(path).hasPrefix("libfathom") }
}
