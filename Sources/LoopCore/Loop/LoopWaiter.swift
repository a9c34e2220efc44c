/// A caller that waits for the outcome of an event.
@usableFromInline
package enum LoopWaiter: Sendable {
    /// It waits for the seq at which the event is applied.
    case outcome(CheckedContinuation<Result<Seq, SendRefusal>, Never>)
    /// It waits for the answer to the event.
    case answer(CheckedContinuation<Result<LoopAnswer, SendRefusal>, Never>)

    func refuse(_ refusal: SendRefusal) {
        switch self {
        case .outcome(let continuation): continuation.resume(returning: .failure(refusal))
        case .answer(let continuation): continuation.resume(returning: .failure(refusal))
        }
    }
}

/// The answer of a loop in this process to an event that was applied.
@usableFromInline
package struct LoopAnswer: Sendable {
    package let seq: Seq
    /// The answer, or nil if the definition has none.
    package let value: (any Codable & Sendable)?

    package init(seq: Seq, value: (any Codable & Sendable)?) {
        self.seq = seq
        self.value = value
    }

    /// The answer as a value of a type.
    package func value<Value>(as type: Value.Type) throws(AskError) -> Value {
        guard let value else { throw .unanswered(at: seq, .undefined) }
        guard let typed = value as? Value else {
            throw .otherType(at: seq, "it is a \(Swift.type(of: value)), and a \(type) was asked for")
        }
        return typed
    }
}
