/// What tells when threads had no CPU.
enum OffCPUSource {
    /// The kernel.
    case switches(SwitchLog)
    /// The waits among their records.
    case waits(OffCPUMemory)
    /// What their records tell of time without a CPU in which no call was made. Chunks with a CPU all the time have none.
    case away(OffCPUMemory)
    /// It was put together from threads.
    case joined(OffCPU)
}
