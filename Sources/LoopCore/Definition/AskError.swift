/// The reason why `ask` returned no answer.
///
/// An event that was refused was not applied. An event that is merely unanswered was applied.
public enum AskError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The event was refused and not applied. With ``SendRefusal/Reason/historyChanged`` it is not known whether it was applied.
    case refused(SendRefusal)
    /// The event was applied at this seq, and there is no answer to it.
    case unanswered(at: Seq, Unanswered)
    /// The event was applied at this seq, and its answer is not of the requested type. The text says what is wrong with it.
    case otherType(at: Seq, String)

    /// The seq at which the event was applied, or nil if it was refused.
    public var seq: Seq? {
        switch self {
        case .refused: nil
        case .unanswered(let seq, _), .otherType(let seq, _): seq
        }
    }

    /// A sentence for people: what became of the event, and what to do.
    public var description: String {
        switch self {
        case .refused(let refusal): "\(refusal)"
        case .unanswered(let seq, let why): "the event was applied at seq \(seq), and has no answer: \(why)"
        case .otherType(let seq, let why):
            "the event was applied at seq \(seq), and its answer is not of the type that was asked for: \(why)"
        }
    }
}

/// The reason why an event that was applied has no answer. The raw values are on the wire and in snapshots.
public enum Unanswered: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    /// The definition has no answer for the event.
    case undefined = 1
    /// The answer could not be encoded.
    case unencodable = 2
    /// The encoded answer is larger than the limit.
    case tooLarge = 3
    /// There was an answer, which the reducer no longer keeps. Never on the wire, because a missing answer is not kept.
    case forgotten = 4

    /// The reason, with the remedy if there is one.
    public var description: String {
        switch self {
        case .undefined: "the definition answers nothing to it; see answer(to:in:) of the definition"
        case .unencodable: "what the definition answers cannot be encoded"
        case .tooLarge: "what the definition answers is larger than the limit; answer with less"
        case .forgotten: "it is kept no longer; read the state instead"
        }
    }
}
