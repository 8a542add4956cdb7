extension Array {
    /// An element of what another program printed.
    ///
    /// - Throws: ``TestSupportError/tooShort(_:)``, which fails the test, where a subscript would trap and end the whole run.
    public func at(_ index: Int) throws(TestSupportError) -> Element {
        guard indices.contains(index) else {
            throw .tooShort("no element \(index) in \(map { String(describing: $0) })")
        }
        return self[index]
    }
}
