/// What tells when threads had no CPU.
enum OffCPUSource {
    /// The kernel.
    case switches(SwitchLog)
    /// The waits among their records.
    case waits
    /// It was put together from threads.
    case joined(OffCPU)
}
