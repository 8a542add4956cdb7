extension ByteWriter {
    /// Writes names and texts as one object, in their order.
    public func write(jsonObject members: [(name: String, value: String)]) {
        write(byte: UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { write(byte: UInt8(ascii: ",")) }
            write(json: member.name)
            write(byte: UInt8(ascii: ":"))
            write(json: member.value)
        }
        write(byte: UInt8(ascii: "}"))
    }
}
