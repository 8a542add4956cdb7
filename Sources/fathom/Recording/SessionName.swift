/// What a session is called that nobody has given a name.
enum SessionName {
    static func of(_ program: String) -> String { stem(program) + ".fathom" }

    /// The last component of a program's path.
    static func stem(_ program: String) -> String { program.split(separator: "/").last.map(String.init) ?? "program" }
}
