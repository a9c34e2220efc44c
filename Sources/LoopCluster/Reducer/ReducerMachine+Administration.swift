import LoopCore
public import LoopWire

/// What an operator asked that only the journal can answer; the shell answers it.
public struct JournalRequest: Equatable, Sendable {
    public var route: Route
    /// The number of the request, which the answer carries.
    public var number: UInt64
    public var request: AdministrationRequest
}

/// What operators ask for.
extension ReducerMachine {
    mutating func administer(_ document: ArraySlice<UInt8>, _ number: UInt64, _ route: Route) {
        guard let request = try? core.coder.decode(AdministrationRequest.self, from: Array(document)) else {
            count(.malformedFrame)
            return answer(.refused("this reducer does not know the request; use the same release"), number, route)
        }
        switch request {
        case .history, .verify, .trim, .state:
            journalRequests.append(JournalRequest(route: route, number: number, request: request))
        default:
            answer(.refused("not yet"), number, route)
        }
    }

    /// What is waiting for the journal; the shell answers each by `answer`.
    public mutating func takeJournalRequests() -> [JournalRequest] {
        defer { journalRequests.removeAll() }
        return journalRequests
    }

    /// Answers a request; leaves with the turn's receipt.
    public mutating func answer(_ answer: AdministrationAnswer, _ number: UInt64, _ route: Route) {
        let document = (try? core.coder.encode(answer)) ?? []
        for part in AnswerPart.parts(of: document, request: number) { reply(.answer(part), to: route) }
    }
}
