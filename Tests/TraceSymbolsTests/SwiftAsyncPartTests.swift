import Testing

@testable import TraceSymbols

@Suite struct SwiftAsyncPartTests {
    @Test func partsByName() {
        #expect(SwiftAsyncPart(linkageName: "$s5tasks5pauseyySiYaFTQ1_") == .continuation)
        #expect(SwiftAsyncPart(linkageName: "$s5tasks5pauseyySiYaFTY12_") == .resumption)
        #expect(SwiftAsyncPart(linkageName: "async_MainTY0_") == .resumption)
        #expect(SwiftAsyncPart.stem(of: "$s5tasks5pauseyySiYaFTY12_") == "$s5tasks5pauseyySiYaF")
        #expect(SwiftAsyncPart.stem(of: "async_MainTQ0_") == "async_Main")
        for name in ["$s5tasks5pauseyySiYaF", "$s5tasks5pauseyySiYaFTu", "main", "_", "", "TQ0_", "$s1aTQ_", "$s1aQ0_"]
        {
            #expect(SwiftAsyncPart(linkageName: name) == nil, Comment(rawValue: name))
        }
    }
}
