/// A caller that waits for the outcome of an event.
@usableFromInline
package enum LoopWaiter: Sendable {
    /// For the seq at which it is applied.
    case outcome(CheckedContinuation<Result<Seq, SendRefusal>, Never>)
    /// For the answer to it.
    case answer(CheckedContinuation<Result<LoopAnswer, SendRefusal>, Never>)

    func refuse(_ refusal: SendRefusal) {
        switch self {
        case .outcome(let continuation): continuation.resume(returning: .failure(refusal))
        case .answer(let continuation): continuation.resume(returning: .failure(refusal))
        }
    }
}

/// What a loop in this process answers to an event that was applied.
@usableFromInline
package struct LoopAnswer: Sendable {
    package let seq: Seq
    /// Nil: its definition has no answer.
    package let value: (any Codable & Sendable)?

    package init(seq: Seq, value: (any Codable & Sendable)?) {
        self.seq = seq
        self.value = value
    }

    /// The answer, if it is of a type.
    package func value<Value>(as type: Value.Type) throws(AskError) -> Value {
        guard let value else { throw .unanswered(at: seq, .undefined) }
        guard let typed = value as? Value else {
            throw .otherType(at: seq, "it is a \(Swift.type(of: value)), and a \(type) was asked for")
        }
        return typed
    }
}
