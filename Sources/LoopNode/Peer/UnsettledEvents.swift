internal import LoopCore

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
