public import LoopCollections

/// The number of a transition, without gaps: 0 for the initial state, 1 for the first event that was applied.
public struct Seq: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The number itself; 0 for the initial state. A journal allows numbers below 2⁶².
    public var value: UInt64

    /// Creates the seq with this number.
    public init(_ value: UInt64) { self.value = value }

    /// The initial state's number.
    public static let initial = Seq(0)

    /// The seq of the next transition.
    public var next: Seq { Seq(value + 1) }

    /// Orders by number: an earlier transition is less.
    public static func < (a: Seq, b: Seq) -> Bool { a.value < b.value }

    /// Reads a single unsigned number.
    /// - Throws: the decoding error if there is none.
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes a single unsigned number.
    /// - Throws: the encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    /// The number in decimal digits.
    public var description: String { String(value) }
}

/// The ID of one lifetime of one request of one feedback.
///
/// The `Evaluator` assigns it as a pure function of the transitions, so that a replay assigns equal IDs.
public struct EffectID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    // The largest field first: 16 bytes, where another order takes 24.

    /// The transition that started the effect.
    @usableFromInline package var seq: Seq
    /// The feedback's number in its loop.
    @usableFromInline package var feedback: UInt32
    /// The index among this feedback's starts in that transition, keys sorted by their encoded bytes.
    @usableFromInline package var index: UInt32

    /// Creates an effect's ID from its parts.
    @usableFromInline package init(feedback: UInt32, seq: Seq, index: UInt32) {
        self.feedback = feedback
        self.seq = seq
        self.index = index
    }

    /// Orders by the transition that started the effect, then by feedback, then by index: older effects are less.
    public static func < (a: EffectID, b: EffectID) -> Bool {
        (a.seq, a.feedback, a.index) < (b.seq, b.feedback, b.index)
    }

    /// `feedback.seq.index`, as tools print and read it.
    public var description: String { "\(feedback).\(seq).\(index)" }

    /// Parses what `description` prints. Nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let feedback = UInt32(parts[0]), let seq = UInt64(parts[1]),
            let index = UInt32(parts[2]), EffectID(feedback: feedback, seq: Seq(seq), index: index).description == text
        else { return nil }
        self.init(feedback: feedback, seq: Seq(seq), index: index)
    }
}

extension EffectID: MixedKey {
    /// A hash of the ID. It needs no protection from chosen keys, because the reducer assigns feedback, seq and index.
    @inlinable package var mixed: UInt64 {
        let place = UInt64(feedback) << 32 | UInt64(index)
        return Mix.finish(seq.value &* 0x9E37_79B9_7F4A_7C15 ^ place &* 0xC2B2_AE3D_27D4_EB4F)
    }
}
