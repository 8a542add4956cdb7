/// Where the chunks of a log lie.
enum LogMemory {
    case mapped(MappedFile)
    case packed(PackedLog)
}
