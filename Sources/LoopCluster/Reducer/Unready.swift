internal import CBOR
internal import LoopCore
package import LoopWire

/// The answers of a reducer that does not serve. They do not depend on the peer, which need not be known. (Protocol, section 5.)
package struct Unready: Sendable {
    /// What peers are to do meanwhile.
    package enum Advice: Sendable {
        /// Stay, because this reducer serves when what the text says is over.
        case stay(because: String)
        /// Go to the leader at this address, or ask again if it is nil.
        case go(to: String?)
    }

    private let loop: String
    private let advice: Advice

    /// How long a peer waits before it asks again.
    private static let retryAfter = Duration.milliseconds(500)

    /// - Parameter loop: the name of the reducer's loop.
    package init(loop: String, _ advice: Advice) {
        self.loop = loop
        self.advice = advice
    }

    /// The answers to a peer's request. The shell answers a request for the status.
    package func answers(to request: ToReducer) throws -> [ToPeer] {
        switch (request, advice) {
        case (.statusRequest, _): return []
        case (.hello(let name, _), _) where name != "" && name != loop:
            return [.refused(Refused(.loop, reducer: loop, peer: name), to: .hello)]
        // A peer that has lost its leader may speak to any process that listens at its address now.
        case (_, .go(let leader)): return [leader.map { .redirect($0) } ?? .noLeader(retryAfter: Self.retryAfter)]
        case (.hello, .stay(let reason)), (.join, .stay(let reason)), (.stateRequest, .stay(let reason)):
            return [.busy(to: request.question, retryAfter: Self.retryAfter, reason: reason)]
        case (.administration(let number, _), .stay(let reason)):
            let answer = AdministrationAnswer.refused("the reducer is not ready: \(reason)")
            return AnswerPart.parts(of: try CBOR.encode(answer), request: number).map { .answer($0) }
        case (.claim, _), (.heartbeat, _), (.assignmentsRequest, _), (.outcomesRequest, _), (.goodbye, _),
            (.progress, _):
            return []
        }
    }
}
