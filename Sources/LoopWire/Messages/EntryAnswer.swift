package import CBOR
package import LoopCore

/// The answer to an applied event whose sender requested one.
package enum EntryAnswer: Equatable, Sendable {
    /// The definition's answer, encoded.
    case value([UInt8])
    /// There is no answer, for this reason.
    case missing(Unanswered)

    /// The size of the encoded answer in bytes.
    var valueBytes: Int { if case .value(let bytes) = self { bytes.count } else { 0 } }
}

/// The answer to one numbered entry.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64 |
/// | 1 | 0 = answered, else why not: 1 the definition has no answer, 2 it cannot be encoded, 3 it is too large |
/// | 4 + n | the answer in CBOR; empty if there is none |
package struct NumberedAnswer: Equatable, Sendable {
    /// The number of the entry in its session, from 1.
    package var number: UInt64
    /// The answer to the entry.
    package var answer: EntryAnswer

    /// Creates a numbered answer from its parts.
    package init(number: UInt64, answer: EntryAnswer) {
        self.number = number
        self.answer = answer
    }

    /// Its size in a message.
    package var byteCount: Int { Self.overhead + answer.valueBytes }

    private static var overhead: Int { 13 }

    /// The smallest size of one in a message.
    static var bytesMin: Int { overhead }
}

extension ByteWriter {
    package mutating func answers(_ answers: some Collection<NumberedAnswer>) {
        u32(UInt32(answers.count))
        for item in answers {
            u64(item.number)
            switch item.answer {
            case .value(let bytes):
                u8(0)
                prefixed(bytes[...])
            case .missing(let why):
                u8(why.rawValue)
                u32(0)
            }
        }
    }
}

extension ByteReader {
    /// Reads at least one answer. A message without answers omits the list.
    package mutating func answers() throws(WireError) -> [NumberedAnswer] {
        let count = try count(bytesEach: NumberedAnswer.bytesMin)
        guard count > 0 else { throw .malformed(what: "a list of no answers", offset: position) }
        var answers: [NumberedAnswer] = []
        answers.reserveCapacity(count)
        for _ in 0..<count {
            let number = try u64()
            let code = try u8()
            let bytes = try prefixed()
            if code == 0 {
                answers.append(NumberedAnswer(number: number, answer: .value(Array(bytes))))
            } else if let why = Unanswered(rawValue: code), why != .forgotten, bytes.isEmpty {
                answers.append(NumberedAnswer(number: number, answer: .missing(why)))
            } else {
                throw .malformed(what: "answer \(code) of \(bytes.count) bytes", offset: position)
            }
        }
        return answers
    }
}
