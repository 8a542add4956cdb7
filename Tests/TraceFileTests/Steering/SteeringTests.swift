import TestSupport
import Testing

@testable import TraceFile

@Suite struct SteeringTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("steering") }

    /// Another mode is still wanted when something else was asked for before the recorder has looked.
    @Test func askingTwiceInARow() throws {
        let session = try SessionDirectory(creating: directory.file("running.fathom"))
        var clock = SessionClock()
        clock.calibrate()
        let buffers = try SharedBuffers(in: session, options: RecordOptions(), clock: clock)
        defer { withExtendedLifetime(buffers) {} }
        let steering = try Steering(session: session.path)
        #expect(throws: SteeringError.self) { try steering.change(to: .profile) }
        steering.acceptChanges()
        try steering.change(to: .profile)
        steering.run(false)
        #expect(steering.wantedMode == .profile && !steering.status.asked.records)
    }
}
