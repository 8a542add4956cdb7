import Testing
import TraceFile

/// Which options go with which modes.
@Suite struct RecordModeTests {
    private func refusal(_ option: String, _ mode: RecordOptions.Mode, attaches: Bool = false) -> String? {
        mode.refusal(of: option, attaches: attaches)
    }

    @Test func modes() {
        #expect(refusal("--memory", .trace) == nil)
        #expect(refusal("--memory", .profile) == "--memory is for --mode trace")
        #expect(refusal("--blocked", .counts) == "--blocked is for --mode trace, flight and profile")
        #expect(refusal("--max-size", .flight) == "--max-size is for --mode trace; flight has --keep")
        #expect(refusal("--keep", .trace) == "--keep is for --mode flight")
        #expect(refusal("--history", .flight)?.contains("no whole run") == true)
    }

    @Test func firstCalls() {
        #expect(refusal("--blocked", .firstCalls) == "--blocked is not for --first-calls")
        #expect(refusal("--module", .trace) == "--module is for --first-calls")
        #expect(refusal("--startup", .firstCalls) == nil)
    }

    @Test func attaching() {
        #expect(refusal("--blocked", .trace, attaches: true) == "--blocked is not for --attach")
        #expect(refusal("--compress", .trace, attaches: true) == nil)
        #expect(refusal("--unheard-of", .trace, attaches: true) == nil)
    }
}
