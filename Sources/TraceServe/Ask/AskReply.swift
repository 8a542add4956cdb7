internal import Glibc
internal import TraceText

extension Reply {
    /// What a question came to.
    init(_ outcome: AskProcess.Outcome, to request: AskRequest) {
        switch outcome {
        case .ended(0, let output, let errors):
            self = .json(Reply.answer(output, saying: Said(errors), byLine: request.answersByLine))
        case .ended(let status, _, let errors): self = Reply.failure(request, status, Said(errors))
        case .given(.superseded): self = .error(409, "Another question has taken this one's place.")
        case .given: self = .error(503, "The viewer is ending.")
        case .clientLeft: self = .empty(408)
        case .tooLarge:
            self = .error(
                422,
                "The answer is larger than \(AskProcess.mostOutput >> 20) MB; a shorter stretch of time has a smaller one."
            )
        case .notStarted(let number):
            self = .error(503, "fathom \(request.command) cannot be started: \(String(cString: strerror(number))).")
        }
    }

    private static func answer(_ output: [UInt8], saying said: Said, byLine: Bool) -> [UInt8] {
        var bytes = jsonBytes { json in
            json.beginObject()
            json.field("said", said.lines)
            json.name("answer")
        }
        let feed = UInt8(ascii: "\n"), text = output[..<(output.lastIndex { $0 != feed }.map { $0 + 1 } ?? 0)]
        bytes.reserveCapacity(bytes.count + text.count + 3)
        if byLine {
            bytes.append(UInt8(ascii: "["))
            for byte in text { bytes.append(byte == feed ? UInt8(ascii: ",") : byte) }
            bytes.append(UInt8(ascii: "]"))
        } else {
            bytes.append(contentsOf: text.isEmpty ? Array("null".utf8)[...] : text)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// - Parameter status: as waitpid(2) has it.
    private static func failure(_ request: AskRequest, _ status: Int32, _ said: Said) -> Reply {
        let (code, signal) = (status >> 8 & 0xff, status & 0x7f)
        let reason =
            signal == 0
            ? said.error ?? "fathom \(request.command) ended with status \(code)"
            : "fathom \(request.command) was ended by \(signalName(signal))"
        let bytes = jsonBytes { json in
            json.object {
                json.field("said", said.others)
                json.field("error", reason)
                if signal == 0 { json.field("status", code) }
            }
        }
        return Reply(status: 422, bytes: bytes)
    }
}

/// What the program said on standard error.
struct Said {
    /// Its lines, without its name before them.
    let lines: [String]

    init(_ bytes: [UInt8]) {
        let own = "fathom: "
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix(own) }.map {
            String($0.dropFirst(own.count))
        }
    }

    private static let errorMark = "error: "

    /// Why it failed.
    var error: String? {
        (lines.last { $0.hasPrefix(Said.errorMark) }).map { String($0.dropFirst(Said.errorMark.count)) } ?? lines.last
    }

    /// All but that.
    var others: [String] { lines.filter { !$0.hasPrefix(Said.errorMark) } }
}
