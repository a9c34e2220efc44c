import CBOR
public import LoopCore

/// One attempt that a peer says it holds.
public struct ClaimedAttempt: Equatable, Sendable {
    public var effect: EffectID
    public var attempt: Attempt

    public init(effect: EffectID, attempt: Attempt) {
        self.effect = effect
        self.attempt = attempt
    }

    /// How many bytes one takes in a message.
    package static var byteCount: Int { 32 }
}

/// A part of what a peer says it holds. The parts of one claim have the same number, and a later claim has a greater one.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64 of the claim |
/// | 4 | part u32, from 0 |
/// | 4 | parts u32, at least 1 |
/// | 4 + … | attempts: count u32, (effect, attempt)… |
public struct ClaimPart: Equatable, Sendable {
    public var number: UInt64
    public var part: UInt32
    public var parts: UInt32
    public var attempts: [ClaimedAttempt]

    public init(_ attempts: [ClaimedAttempt], number: UInt64 = 1, part: UInt32 = 0, parts: UInt32 = 1) {
        self.number = number
        self.part = part
        self.parts = parts
        self.attempts = attempts
    }

    public var isLast: Bool { part + 1 == parts }

    /// A whole claim, in parts of at most so many bytes, or of one attempt.
    package static func parts(of claim: [ClaimedAttempt], number: UInt64, bytesMax: Int) -> [ClaimPart] {
        let size = max(1, bytesMax / ClaimedAttempt.byteCount)
        let count = max(1, (claim.count + size - 1) / size)
        return (0..<count).map { part in
            ClaimPart(
                Array(claim[min(part * size, claim.count)..<min((part + 1) * size, claim.count)]), number: number,
                part: UInt32(part), parts: UInt32(count))
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(number)
        writer.u32(part)
        writer.u32(parts)
        writer.u32(UInt32(attempts.count))
        for claim in attempts {
            writer.effect(claim.effect)
            writer.attempt(claim.attempt)
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        number = try reader.u64()
        part = try reader.u32()
        parts = try reader.u32()
        guard part < parts else {
            throw .malformed(what: "part \(part) of \(parts) of a claim", offset: reader.position)
        }
        let count = try reader.count(bytesEach: ClaimedAttempt.byteCount)
        attempts = []
        attempts.reserveCapacity(count)
        for _ in 0..<count {
            attempts.append(ClaimedAttempt(effect: try reader.effect(), attempt: try reader.attempt()))
        }
    }
}

extension ClaimPart: ExpressibleByArrayLiteral {
    /// All of a claim.
    public init(arrayLiteral attempts: ClaimedAttempt...) { self.init(attempts) }
}
