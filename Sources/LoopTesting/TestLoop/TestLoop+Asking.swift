internal import LoopCore

extension TestLoop {
    /// Sends an event as the owner of the loop would, and returns the definition's answer to it.
    ///
    ///     let receipt = try loop.ask(.withdraw("ann", 5), for: Receipt.self) { $0.balances["ann"] = 95 }
    ///     #expect(receipt.balance == 95)
    ///
    /// - Parameters:
    ///   - event: an event that the definition answers, as `LoopDefinition.answer(to:in:)` does.
    ///   - type: the type of the answer.
    ///   - file: the file of a failure.
    ///   - line: the line of a failure.
    ///   - change: what the event changes in the state, applied to the state before it. Without it, nothing may change.
    /// - Returns: the answer, from the state right after the event.
    /// - Throws: ``TestLoopFailure`` if `send` throws it, or if the definition gives no answer or one of another type.
    public func ask<Answer: Sendable>(
        _ event: Event, for type: Answer.Type, file: StaticString = #fileID, line: UInt = #line,
        _ change: ((inout State) throws -> Void)? = nil
    ) throws -> Answer {
        let call = TestCall("ask(\(ValueText.of(event)))", file, line)
        let seq = seq.next
        // The loop's state would be wrong here, because other events may have followed from this one.
        let after = try send(.event(event), call, change)
        do throws(AskError) {
            return try LoopAnswer(seq: seq, value: machine.answerOf?(event, after)).value(as: type)
        } catch {
            throw call.failure("\(error)")
        }
    }
}
