internal import Glibc

/// Work on a thread of its own, without Foundation.
package struct BackgroundThread {
    /// Nil where there can be no further thread.
    private let thread: pthread_t?

    /// Starts a thread. It blocks the signals that the calling one blocks.
    package init(_ run: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(run)).toOpaque()
        var started = pthread_t()
        let error = pthread_create(
            &started, nil,
            {
                Unmanaged<Body>.fromOpaque($0!).takeRetainedValue().run(); return nil
            }, argument)
        if error != 0 { Unmanaged<Body>.fromOpaque(argument).release() }
        thread = error == 0 ? started : nil
    }

    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Waits for its end.
    package func join() {
        if let thread { pthread_join(thread, nil) }
    }
}
