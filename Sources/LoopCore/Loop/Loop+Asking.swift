extension Loop {
    /// Queues one event, and waits for the definition's answer to it.
    ///
    ///     let (receipt, seq) = try await loop.ask(.withdraw("ann", 5), for: Receipt.self)
    ///
    /// The answer is computed from the state right after the event was applied, before the next one is.
    /// - Parameters:
    ///   - event: an event that the definition answers; see ``LoopDefinition/answer(to:in:)``.
    ///   - type: the type of the answer.
    /// - Returns: the answer, and the number of the event's transition.
    /// - Throws: why the event was not applied, or why there is no answer although it was. A loop that was not made from a
    ///   definition answers nothing.
    public func ask<Answer: Sendable>(
        _ event: Event, for type: Answer.Type
    ) async throws(AskError) -> (answer: Answer, seq: Seq) {
        let told: LoopAnswer
        do throws(SendRefusal) {
            told = try await answer(to: event)
        } catch {
            throw .refused(error)
        }
        return (try told.value(as: type), told.seq)
    }

    /// The answer to an event, of any type.
    func answer(to event: Event) async throws(SendRefusal) -> LoopAnswer { try await source.ask(event) }
}

/// Where an event was applied, with the answer of a loop in this process.
@usableFromInline
package struct LoopAnswer: Sendable {
    package let seq: Seq
    /// The answer, or nil if the definition has none or the sender did not ask.
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
