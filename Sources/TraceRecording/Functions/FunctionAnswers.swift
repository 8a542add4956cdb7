internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// Tells traced processes which functions of their modules the options name: those of the program before it starts, those
/// of other modules as processes ask for them, on a thread of its own.
final class FunctionAnswers: @unchecked Sendable {
    private let shared: SharedFunctions
    private let functions: RecordingRequest.Functions
    private var isStopping: UInt32 = 0
    private var thread: pthread_t?

    /// - Throws: ``RecordingError/files(_:)``.
    init(_ functions: RecordingRequest.Functions, in directory: SessionDirectory, clock: SessionClock)
        throws(RecordingError)
    {
        self.functions = functions
        do {
            shared = try SharedFunctions(
                in: directory, all: functions.all, levels: functions.levels, textLimit: functions.textLimit,
                conditions: functions.conditions, clock: clock)
        } catch {
            throw .files(error)
        }
        for (module, named) in functions.known { shared.tell(named, of: module) }
    }

    /// Answers from now on. Call it again after ``stop()``, in whichever process goes on recording.
    func start() {
        fathom_store32(&isStopping, 0)
        var started = pthread_t()
        let answers = Unmanaged.passRetained(self)
        let error = pthread_create(
            &started, nil,
            {
                Unmanaged<FunctionAnswers>.fromOpaque($0!).takeRetainedValue().run()
                return nil
            }, answers.toOpaque())
        if error == 0 { thread = started } else { answers.release() }
    }

    func stop() {
        fathom_store32(&isStopping, 1)
        shared.wake()
        if let thread { pthread_join(thread, nil) }
        thread = nil
    }

    func remove() { shared.remove() }

    private func run() {
        while fathom_load32(&isStopping) == 0 {
            guard let module = shared.nextRequest() else {
                shared.wait()
                continue
            }
            shared.tell(functions.find(module), of: module)
            shared.finishRequest()
        }
    }
}
