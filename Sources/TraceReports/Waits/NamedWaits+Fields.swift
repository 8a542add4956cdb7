internal import TraceFindings
internal import TraceText

extension NamedWaits {
    /// Writes what is waited for as members of a JSON object.
    func writeFields(
        _ kind: Wait.Kind, _ object: UInt64, _ descriptor: Int16, _ name: UInt32, of thread: Int, _ json: JSONWriter
    ) {
        json.field("kind", kind.name)
        json.field("object", self.object(kind, object, descriptor, of: thread))
        json.field("file", file(name, of: thread))
    }
}
