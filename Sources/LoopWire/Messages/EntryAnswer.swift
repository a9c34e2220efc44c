package import CBOR
public import LoopCore

/// What is answered to an event that has asked and was applied.
public enum EntryAnswer: Equatable, Sendable {
    /// The definition's answer, encoded.
    case value([UInt8])
    /// There is none, for this reason.
    case missing(Unanswered)

    /// How many bytes it carries.
    var valueBytes: Int { if case .value(let bytes) = self { bytes.count } else { 0 } }
}

/// The answer to one numbered entry.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64 |
/// | 1 | 0 = answered, else why not: 1 the definition has no answer, 2 it cannot be encoded, 3 it is too large |
/// | 4 + n | the answer in CBOR; empty where there is none |
public struct NumberedAnswer: Equatable, Sendable {
    /// The number of the entry in its session, from 1.
    public var number: UInt64
    /// What is answered to it.
    public var answer: EntryAnswer

    /// Creates a numbered answer from its parts.
    public init(number: UInt64, answer: EntryAnswer) {
        self.number = number
        self.answer = answer
    }

    /// How many bytes it takes in a message.
    package var byteCount: Int { Self.overhead + answer.valueBytes }

    private static var overhead: Int { 13 }

    /// The fewest bytes of one.
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
    /// At least one: where there are none, nothing stands.
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
