import LoopCluster
import LoopWire

extension PeerShell {
    /// Logs what a stop waits for, or what it has waited for in vain.
    mutating func noteStop(limit: Duration, isOver: Bool) {
        stopNotice = nil
        guard let text = driver.unconfirmed.text(reducer: reducer, within: limit, isOver: isOver) else { return }
        log.note(isOver ? .unsettled : .waiting, text, [.address("\(reducer)")])
    }
}

/// The entries of a peer that stops which the reducer has not confirmed.
struct UnconfirmedEntries: Equatable, Sendable {
    /// Effects that were handed back unfinished.
    var released = 0
    /// Entries of effects that have ended or were still running.
    var results = 0
    /// Entries without an effect.
    var events = 0

    init(released: Int = 0, results: Int = 0, events: Int = 0) {
        (self.released, self.results, self.events) = (released, results, events)
    }

    init(_ entries: some Sequence<Entry>) {
        for entry in entries {
            switch (entry.kind, entry.effect) {
            case (.released, _): released += 1
            case (_, _?): results += 1
            case (_, nil): events += 1
            }
        }
    }

    /// The text for people, or nil if nothing is unconfirmed. At the end, the connection itself reports events.
    func text(reducer: ReducerAddress, within limit: Duration, isOver: Bool) -> String? {
        func part(_ count: Int, _ noun: String, _ fate: String) -> String? {
            count == 0 ? nil : "\(NodeLog.count(count, noun)) \(count == 1 ? "is" : "are") \(fate)"
        }
        let parts = [
            part(released, "effect", "handed back"), part(results, "effect result", "left"),
            isOver ? nil : part(events, "event", "left"),
        ].compactMap { $0 }
        guard !parts.isEmpty else { return nil }
        let what = parts.joined(separator: ", ")
        return isOver
            ? "\(what); the reducer at \(reducer) has not confirmed it within \(limit.text); effects that it does not know"
                + " to be done run elsewhere after its silence limit"
            : "stopping: \(what); the reducer at \(reducer) has not confirmed it; waiting for it for"
                + " \(limit.text) in all"
    }
}
