/// SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein, SipHash: a fast short-input PRF, 2012), which is the same on every machine and in
/// every process, as Swift's own hashes are not.
public enum SipHash {
    /// - Parameter key: 16 bytes as two little-endian numbers; 0 where hashes are to be the same everywhere.
    /// - Complexity: O(bytes).
    public static func hash(_ bytes: some Collection<UInt8>, key: (UInt64, UInt64) = (0, 0)) -> UInt64 {
        var state = State(key)
        var word: UInt64 = 0, filled: UInt64 = 0
        for byte in bytes {
            word |= UInt64(byte) << filled
            filled += 8
            guard filled == 64 else { continue }
            state.take(word)
            (word, filled) = (0, 0)
        }
        state.take(word | UInt64(bytes.count & 0xff) << 56)
        return state.finish()
    }

    private struct State {
        private var v0, v1, v2, v3: UInt64

        init(_ key: (UInt64, UInt64)) {
            v0 = key.0 ^ 0x736f_6d65_7073_6575
            v1 = key.1 ^ 0x646f_7261_6e64_6f6d
            v2 = key.0 ^ 0x6c79_6765_6e65_7261
            v3 = key.1 ^ 0x7465_6462_7974_6573
        }

        mutating func take(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 &+= v1
            v2 &+= v3
            v1 = State.rotated(v1, 13) ^ v0
            v3 = State.rotated(v3, 16) ^ v2
            v0 = State.rotated(v0, 32)
            v2 &+= v1
            v0 &+= v3
            v1 = State.rotated(v1, 17) ^ v2
            v3 = State.rotated(v3, 21) ^ v0
            v2 = State.rotated(v2, 32)
        }

        private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
    }
}
