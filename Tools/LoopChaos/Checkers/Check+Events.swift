import LoopCore
import LoopExamples

// Checks of the clients' events.
extension Check {
    /// Every event that its sender knows to be applied is in the state, once, at a seq of its own.
    static let confirmedIsAppliedOnce = Check(name: "applied exactly once") { evidence in
        guard let state = evidence.state else { return ["the reducer told no final state"] }
        var found: [String] = []
        var bySeq: [Seq: UInt64] = [:]
        for (number, outcome) in evidence.clients.sorted(by: { $0.key < $1.key }) {
            guard case .applied(let seq) = outcome else { continue }
            if !state.received.contains(number) {
                found.append("event \(number) was confirmed as applied at \(seq), and is not in the state")
            }
            if let other = bySeq.updateValue(number, forKey: seq) {
                found.append("events \(other) and \(number) were both confirmed as applied at \(seq)")
            }
            if seq.value > evidence.seq {
                found.append("event \(number) was confirmed at \(seq), beyond the end at \(evidence.seq)")
            }
        }
        if state.doubles > 0 { found.append("\(state.doubles) events were applied twice") }
        if state.missing > 0 { found.append("\(state.missing) events came of deposits that never came in") }
        return found
    }

    /// Every event of a client is applied, or its sender knows the reason; and only sent events are applied.
    static let everySenderWasTold = Check(name: "applied or told why not") { evidence in
        guard let state = evidence.state else { return ["the reducer told no final state"] }
        var found: [String] = []
        if evidence.clients.isEmpty { found.append("the clients sent nothing") }
        for (number, outcome) in evidence.clients.sorted(by: { $0.key < $1.key }) {
            switch outcome {
            case .unknown:
                let fate = state.received.contains(number) ? "it was applied" : "it was not applied"
                found.append("the sender of event \(number) was never told what became of it; \(fate)")
            case .refused(.historyChanged):
                found.append("the sender of event \(number) was told that the history is another one")
            case .refused(let reason) where state.received.contains(number):
                found.append("event \(number) was refused (\(reason)), and is in the state")
            case .refused, .applied: break
            }
        }
        let unsent = state.received.ranges.reduce(0) { $0 + Int($1.upperBound - $1.lowerBound) + 1 }
        let applied = evidence.clients.keys.count { state.received.contains($0) }
        if unsent != applied { found.append("\(unsent - applied) numbers are in the state that nobody sent") }
        return found
    }

    /// After a deposit was cancelled or booked, no event of its effect is applied.
    static let nothingStale = Check(name: "nothing stale") { evidence in
        guard let state = evidence.state else { return ["the reducer told no final state"] }
        var found = state.stale > 0 ? ["\(state.stale) events of closed deposits were applied"] : []
        let both = state.cancelled.ranges.flatMap { $0 }.filter { state.booked.contains($0) }
        found += both.map { "deposit \($0) was cancelled, and booked too" }
        return found
    }
}
