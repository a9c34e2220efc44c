import CBOR
import LoopNode
import LoopWire

/// Checks an event before it is sent: is it one of the loop, and does the loop read all of its fields?
enum SendCheck {
    static let allowUnknownFields = Option(
        flag: "allow-unknown-fields", help: "send an event although it has fields that the loop does not read")

    /// How long the check may take for an event in an outbox. Without a reducer, the event is sent unchecked.
    private static var outboxLimit: Duration { .seconds(1) }

    /// Asks the reducer.
    /// - Returns: why not to send the event, or nil if it may be sent, also because no reducer could say.
    static func flaw(
        in event: [UInt8], for reducer: ReducerAddress, within limit: Duration, isKept: Bool, allowsUnknown: Bool
    ) async throws -> String? {
        // Where no reducer can say, there must be time left to send the event.
        let limit = isKept ? min(limit, outboxLimit) : limit / 2
        let explanation: DecodingExplanation? = try await NodeThread.run("loop-check") {
            do {
                var call = try AdministrationCall(reducer: reducer)
                return try call.ask(.explain(event: event), \.explained, within: limit)
            } catch is AdministrationError {
                // An earlier release, a key that may not ask, or no reducer. The outcome of the event will show whether it is
                // valid.
                return nil
            } catch is NodeError {
                return nil
            }
        }
        return explanation.flatMap { text(of: $0, allowsUnknown: allowsUnknown) }
    }

    /// What is wrong with an event, in one line, or nil.
    static func text(of explanation: DecodingExplanation, allowsUnknown: Bool) -> String? {
        let unknown = explanation.unknownKeys
        if let error = explanation.error { return "this is no event of the loop: \(error); see: loopctl schema" }
        guard !unknown.isEmpty, !allowsUnknown else { return nil }
        let names = unknown.prefix(5).joined(separator: ", ") + (unknown.count > 5 ? ", …" : "")
        return "the loop does not read \(unknown.count == 1 ? "the field" : "the fields") \(names);"
            + " see loopctl schema, or pass --allow-unknown-fields"
    }
}
