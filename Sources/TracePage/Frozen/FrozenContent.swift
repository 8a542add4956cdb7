internal import TraceText

/// What a page of the viewer shows that has all its data inside.
public struct FrozenContent {
    /// Bytes that a page may have, or little more.
    public static let usualSize = 8 << 20

    /// JSON, as the server of the viewer answers it, see `source.js`.
    public var session: [UInt8]
    /// Of functions; nil where there is no timeline.
    public var names: [UInt8]?
    public var events: [UInt8]?
    /// What threads waited for, see ``FrozenWaits``.
    public var waits: [UInt8]?
    public var timeline: FrozenTimeline?
    /// What commands answered, as it stands in the page, by the command and its options, a space between.
    private var answers: [(key: String, text: [UInt8], isPacked: Bool)] = []

    public init(session: [UInt8]) { self.session = session }

    /// Bytes of a page that the answers take.
    public var sizeOfAnswers: Int { answers.reduce(0) { $0 + $1.key.utf8.count + $1.text.count + 8 } }

    /// Keeps what a command has answered.
    ///
    /// - Parameters:
    ///   - answer: an object with what was `said`, and the `answer`, or the `error`.
    ///   - most: bytes of a page that it may take; a larger one is left out.
    public mutating func add(_ words: [String], answer: [UInt8], most: Int = .max) {
        let packed = PackedText.of(answer)
        if packed.count <= most { answers.append((words.joined(separator: " "), packed, true)) }
    }

    /// Keeps an answer that may stand inside a script element. A small one stays as it is, so that it can be read in the page's source.
    public mutating func add(_ words: [String], embedded answer: [UInt8]) {
        let isPacked = answer.count > 1 << 18
        answers.append((words.joined(separator: " "), isPacked ? PackedText.of(answer) : answer, isPacked))
    }

    /// Writes it as `frozen.js` reads it.
    func write(to writer: ByteWriter) {
        let json = JSONWriter(writer, isEmbedded: true)
        json.object {
            json.name("session")
            json.value(packed: PackedText.of(session))
            if let names {
                json.name("names")
                json.value(packed: PackedText.of(names))
            }
            if let events {
                json.name("events")
                json.value(packed: PackedText.of(events))
            }
            if let waits {
                json.name("waits")
                json.value(packed: PackedText.of(waits))
            }
            if let timeline {
                json.name("timeline")
                timeline.write(to: json)
            }
            json.object("answers") {
                for (key, text, isPacked) in answers {
                    json.name(of: key)
                    if isPacked { json.value(packed: text) } else { json.bytes.write(text) }
                }
            }
        }
    }
}

extension JSONWriter {
    /// Writes packed bytes, in which nothing has to be escaped.
    func value(packed text: [UInt8]) {
        separate()
        bytes.write(byte: UInt8(ascii: "\""))
        bytes.write(text)
        bytes.write(byte: UInt8(ascii: "\""))
    }
}
