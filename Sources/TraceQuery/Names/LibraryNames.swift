internal import TraceAnalysis
internal import TraceFile
internal import TraceSymbols

extension Session {
    /// The names by which functions were called through slots, by their modules and their addresses in the modules' files. Where one
    /// was called by several names, the shortest stands for all.
    var libraryNames: [ModuleIdentity: [UInt64: String]] {
        var names: [ModuleIdentity: [UInt64: String]] = [:]
        for process in processes {
            for (address, calls) in process.libraryCalls {
                for call in calls {
                    let module = process.modules.last {
                        $0.low <= address && address < $0.high && $0.seenTicks <= call.ticks
                            && call.ticks < $0.unloadTicks
                    }
                    guard let module else { continue }
                    let identity = ModuleIdentity(path: module.path, buildID: module.buildID)
                    let place = address &- module.bias, known = names[identity]?[place] ?? call.name
                    let isShorter = (call.name.utf8.count, call.name) < (known.utf8.count, known)
                    names[identity, default: [:]][place] = isShorter ? call.name : known
                }
            }
        }
        return names
    }
}

extension LibraryCall {
    /// A name as people write it. The version stays.
    static func shown(_ name: String, spoken: Bool) -> String {
        let parts = name.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        return demangle(String(parts[0]), spoken: spoken) + (parts.count > 1 ? "@" + parts[1] : "")
    }
}
