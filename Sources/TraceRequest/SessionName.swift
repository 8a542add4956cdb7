/// What a session is called that nobody has given a name.
public enum SessionName {
    public static func of(_ program: String) -> String { stem(program) + ".fathom" }

    /// The last component of a program's path.
    public static func stem(_ program: String) -> String {
        program.split(separator: "/").last.map(String.init) ?? "program"
    }
}
