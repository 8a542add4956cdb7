/// The stack that a thread stayed in longest, among those that were sampled lately.
public struct RepeatedStack: Sendable, Equatable {
    /// A function of the stack.
    public struct Frame: Sendable, Equatable {
        public var name: String
        /// In how many of the samples it was open.
        public var count: Int

        public init(name: String, count: Int) {
            self.name = name
            self.count = count
        }
    }

    /// Outermost first.
    public var frames: [Frame]
    /// How many samples in a row had the same innermost function, up to this stack.
    public var count: Int
    /// How many samples there were.
    public var samples: Int

    public init(frames: [Frame], count: Int, samples: Int) {
        self.frames = frames
        self.count = count
        self.samples = samples
    }
}
