import CBOR
package import LoopCore

/// One attempt in a peer's claim.
package struct ClaimedAttempt: Equatable, Sendable {
    /// The effect that runs, or that has entries in the outbox.
    package var effect: EffectID
    /// The attempt of it that the peer holds.
    package var attempt: Attempt

    /// Creates a claimed attempt from its parts.
    package init(effect: EffectID, attempt: Attempt) {
        self.effect = effect
        self.attempt = attempt
    }

    /// The size of one in a message.
    package static var byteCount: Int { 32 }
}

/// A part of a peer's claim. The parts of one claim have the same number, and a later claim has a greater one.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64 of the claim |
/// | 4 | part u32, from 0 |
/// | 4 | parts u32, at least 1 |
/// | 4 + … | attempts: count u32, (effect, attempt)… |
package struct ClaimPart: Equatable, Sendable {
    /// The number of the claim. Each claim of a peer has a greater number than the previous one.
    package var number: UInt64
    /// The index of this part in the claim, from 0.
    package var part: UInt32
    /// How many parts the claim has, at least 1.
    package var parts: UInt32
    /// The attempts that this part names; none in the only part of an empty claim.
    package var attempts: [ClaimedAttempt]

    /// Creates a part of a claim, by default the only part of claim 1; `part` is below `parts`.
    package init(_ attempts: [ClaimedAttempt], number: UInt64 = 1, part: UInt32 = 0, parts: UInt32 = 1) {
        self.number = number
        self.part = part
        self.parts = parts
        self.attempts = attempts
    }

    /// Whether this part completes the claim. The session has claimed once the reducer has accepted it.
    package var isLast: Bool { part + 1 == parts }

    /// A whole claim, in parts of at most `bytesMax` bytes, or of one attempt.
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
    /// Creates the only part of a claim of these attempts.
    package init(arrayLiteral attempts: ClaimedAttempt...) { self.init(attempts) }
}
