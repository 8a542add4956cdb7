internal import Glibc
public import TraceFile
internal import TraceText

/// Says what became of a module's sleds, as `record` and `info` do.
public enum SledsText {
    /// `120 of 686 functions of lua are open; 560 are smaller than asked for`
    public static func line(_ sleds: SledCounts, of path: String) -> String {
        let name = (path.split(separator: "/").last.map(String.init) ?? path).visible
        if sleds.error != 0 {
            return
                "warning: the sleds of \(name) stay closed, because its code cannot be changed: "
                + "\(String(cString: strerror(sleds.error)))"
        }
        let open = CountText.grouped(UInt64(sleds.open)), all = CountText.grouped(UInt64(sleds.functions))
        var line = "\(open) of \(all) functions of \(name) with sleds are open"
        let reasons = [
            (sleds.unwanted, "left out by name"), (sleds.small, "smaller than asked for"),
            (sleds.busy, "closed again to keep to the budget"), (sleds.unknown, "not as compilers make them"),
            (sleds.looping, "that begin with a loop and keep values below the stack pointer, where a hook would write"),
        ]
        for (count, reason) in reasons where count > 0 { line += "; \(CountText.grouped(UInt64(count))) \(reason)" }
        return line
    }
}
