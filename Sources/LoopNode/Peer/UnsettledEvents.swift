internal import LoopCore
import LoopWire

/// Events that were accepted, have no known outcome when their connection ends, and for which no caller waits.
struct UnsettledEvents: Equatable, Sendable {
    /// How many were never sent.
    var unsentCount = 0
    /// How many were sent. Whether they were applied is unknown.
    var sentCount = 0
    /// The names of the first few.
    private(set) var first: [String] = []

    private static var shownMax: Int { 3 }

    var count: Int { unsentCount + sentCount }

    mutating func add(_ payload: some Collection<UInt8>, isSent: Bool) {
        if isSent { sentCount += 1 } else { unsentCount += 1 }
        if first.count < Self.shownMax { first.append(Self.name(of: Array(payload))) }
    }

    /// The name of an enum's case, as events are encoded, or another event in short. Values are left out, because they
    /// may be confidential.
    private static func name(of event: [UInt8]) -> String {
        let document = JSONText.document(event)
        let isNamed = document.hasPrefix("{\"") || document.hasPrefix("\"")
        let name = isNamed ? document.split(separator: "\"", omittingEmptySubsequences: false)[1] : document[...]
        return JSONText.onOneLine(String(name), 40)
    }

    /// The text for people, or nil if there are no such events.
    /// - Parameters:
    ///   - limit: how long the connection has tried at its end, or nil if it has failed.
    ///   - outbox: the file that keeps the events, if there is one.
    func text(reducer: ReducerAddress, within limit: Duration?, outbox: String?) -> String? {
        guard count > 0 else { return nil }
        if let outbox {
            let verb = count == 1 ? "stays" : "stay"
            let again = count == 1 ? "leaves" : "leave"
            return "\(Self.events(count)) \(verb) in \(outbox), and \(again) when it is opened again: \(shown)"
        }
        var parts: [String] = []
        let within = limit.map { " within \($0)" } ?? ""
        if unsentCount > 0 {
            let verb = unsentCount == 1 ? ("was", "is") : ("were", "are")
            parts.append(
                "\(Self.events(unsentCount)) \(verb.0) not sent to \(reducer)\(within) and \(verb.1) lost")
        }
        if sentCount > 0 {
            let verb = sentCount == 1 ? ("was", "it was") : ("were", "they were")
            parts.append(
                "\(Self.events(sentCount)) \(verb.0) sent to \(reducer), which did not say\(within) whether"
                    + " \(verb.1) applied")
        }
        return "\(parts.joined(separator: "; ")): \(shown)"
    }

    private static func events(_ count: Int) -> String { count == 1 ? "1 event" : "\(count) events" }

    private var shown: String {
        first.joined(separator: ", ") + (count > first.count ? ", …" : "")
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

extension UnconfirmedEntries {
    init(_ entries: some Sequence<Entry>) {
        self.init()
        for entry in entries {
            switch (entry.kind, entry.effect) {
            case (.released, _): released += 1
            case (_, _?): results += 1
            case (_, nil): events += 1
            }
        }
    }
}
