internal import TraceText

/// What a session is called that nobody has given a name.
public enum SessionName {
    public static func of(_ program: String) -> String {
        let name = stem(program)
        // Sessions' names are text.
        return (name.holdsRawBytes ? name.visible : name) + ".fathom"
    }

    /// What files are called that are made of a session: the last component of its path, without what sessions' names end in.
    public static func withoutEnding(_ session: String) -> String {
        let name = stem(session)
        let ending = [".fathomz", ".fathom"].first { name.hasSuffix($0) && name != $0 } ?? ""
        return String(name.dropLast(ending.count))
    }

    /// The last component of a program's path.
    public static func stem(_ program: String) -> String {
        program.split(separator: "/").last.map(String.init) ?? "program"
    }
}
