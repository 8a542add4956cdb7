internal import Glibc

/// Work on a thread of its own, without Foundation.
package struct BackgroundThread {
    private var thread = pthread_t()

    /// Starts a thread. It blocks the signals that the calling one blocks.
    package init(_ run: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(run)).toOpaque()
        pthread_create(
            &thread, nil,
            {
                Unmanaged<Body>.fromOpaque($0!).takeRetainedValue().run(); return nil
            }, argument)
    }

    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Waits for its end.
    package func join() { pthread_join(thread, nil) }
}
