internal import Glibc

/// Runs `body` on a stack of its own, of 256 MB, of which only what is used takes memory.
///
/// What is read within something else takes some hundred bytes of the stack for each step, and long names have a thousand
/// templates within one another.
///
/// - Returns: nil as well when no thread can be started.
func onDeepStack(if isDeep: Bool, _ body: () -> String?) -> String? {
    guard isDeep else { return body() }
    return withoutActuallyEscaping(body) { body in
        withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            let attributes = attributes.baseAddress!
            pthread_attr_init(attributes)
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setstacksize(attributes, 256 << 20)
            let work = DeepWork(body)
            var thread = pthread_t()
            let failure = pthread_create(
                &thread, attributes,
                { work in
                    Unmanaged<DeepWork>.fromOpaque(work!).takeUnretainedValue().run()
                    return nil
                }, Unmanaged.passUnretained(work).toOpaque())
            guard failure == 0 else { return nil }
            pthread_join(thread, nil)
            return work.result
        }
    }
}

private final class DeepWork {
    private let body: () -> String?
    private(set) var result: String?

    init(_ body: @escaping () -> String?) { self.body = body }

    func run() { result = body() }
}
