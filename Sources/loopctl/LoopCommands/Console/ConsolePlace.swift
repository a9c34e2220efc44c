import LoopCore
import LoopNode
import LoopWire

/// What the console shows. Its text is in the address of the page, so that an address can be kept and sent.
///
/// | text | what is shown |
/// |---|---|
/// | `now` | health, members, what waits |
/// | `timeline?event=paid&text=o-17` | transitions, all of them without a filter |
/// | `seq/17` | one transition |
/// | `state/17?orders.o-17` | a part of the state after a transition, or of the newest one |
/// | `why/99?orders.o-17` | the transitions that changed a part, before a seq if there is one |
/// | `what-if/17?{…}&{…}`, `what-if/17/test?…` | what events would change after a transition, or a test of it |
/// | `effects`, `effect/0.17.2` | lanes of the newest effects, or the records of one |
enum ConsolePlace: Hashable, Sendable {
    case now
    case timeline(ConsoleFilter)
    case transition(UInt64)
    case state(at: UInt64?, path: [String])
    case why(path: [String], before: UInt64?)
    case whatIf(WhatIfQuestion)
    case effects
    case effect(EffectID)

    /// Reads the text of a place, or returns nil if it names none.
    init?(_ text: String) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = parts[0].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let rest = parts.count > 1 ? parts[1] : ""
        var path: [String]? { rest.isEmpty ? [] : StatePath.steps(of: rest) }
        switch (names[0], names.dropFirst().first) {
        case ("now", nil): self = .now
        case ("timeline", nil): self = .timeline(ConsoleFilter(query: rest))
        case ("seq", let number?):
            guard let seq = UInt64(number), seq > 0 else { return nil }
            self = .transition(seq)
        case ("state", let number):
            guard let path, number.map({ UInt64($0) != nil }) ?? true else { return nil }
            self = .state(at: number.flatMap { UInt64($0) }, path: path)
        case ("why", let number):
            guard let path, !path.isEmpty, number.map({ UInt64($0) != nil }) ?? true else { return nil }
            self = .why(path: path, before: number.flatMap { UInt64($0) })
        case ("what-if", let number?):
            guard let seq = UInt64(number), names.count == 2 || names[2...] == ["test"] else { return nil }
            let events = rest.split(separator: "&").map { event in
                String(decoding: PercentEncoding.decode(Array(event.utf8)[...]), as: UTF8.self)
            }
            self = .whatIf(WhatIfQuestion(after: seq, events: events, isTest: names.count > 2))
        case ("effects", nil): self = .effects
        case ("effect", let name?):
            guard let effect = EffectID(name) else { return nil }
            self = .effect(effect)
        default: return nil
        }
    }

    /// The text that names the place.
    var text: String {
        switch self {
        case .now: "now"
        case .timeline(let filter): "timeline" + Self.after("?", filter.query)
        case .transition(let seq): "seq/\(seq)"
        case .state(let seq, let path):
            "state" + Self.after("/", seq.map { "\($0)" } ?? "") + Self.after("?", StatePath.text(of: path))
        case .why(let path, let seq):
            "why" + Self.after("/", seq.map { "\($0)" } ?? "") + "?" + StatePath.text(of: path)
        case .whatIf(let question):
            "what-if/\(question.after)" + (question.isTest ? "/test" : "")
                + Self.after("?", question.events.map { PercentEncoding.encode($0.utf8) }.joined(separator: "&"))
        case .effects: "effects"
        case .effect(let effect): "effect/\(effect)"
        }
    }

    /// The address of a link to the place.
    var link: String {
        "#" + PercentEncoding.encode(text.utf8) { PercentEncoding.isUnreserved($0) || "/?=&[]".utf8.contains($0) }
    }

    private static func after(_ sign: String, _ text: String) -> String { text.isEmpty ? "" : sign + text }
}

/// Events that have not happened, and the transition after which they are applied.
struct WhatIfQuestion: Hashable, Sendable {
    var after: UInt64
    /// Each as JSON.
    var events: [String] = []
    /// Whether a test is wanted in place of the changes.
    var isTest = false

    /// The question without these events and the later ones.
    func upTo(_ count: Int) -> WhatIfQuestion { WhatIfQuestion(after: after, events: Array(events.prefix(count))) }
}

/// Which transitions the timeline shows: those that have all of these, as far as they are not empty.
struct ConsoleFilter: Hashable, Sendable {
    /// The case of the event type.
    var event = ""
    /// The number of the sender's session.
    var sender = ""
    /// The ID of the effect that sent the event.
    var effect = ""
    /// A text in the event's JSON.
    var text = ""

    private static let fields: [(name: String, path: any WritableKeyPath<ConsoleFilter, String> & Sendable)] = [
        ("event", \.event), ("sender", \.sender), ("effect", \.effect), ("text", \.text),
    ]

    init() {}

    /// Reads `name=value&name=value`. Unknown names are ignored.
    init(query: String) {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let field = Self.fields.first(where: { $0.name == parts[0] }) else { continue }
            self[keyPath: field.path] = String(
                decoding: PercentEncoding.decode(Array(parts[1].utf8)[...]), as: UTF8.self)
        }
    }

    var query: String {
        Self.fields.filter { !self[keyPath: $0.path].isEmpty }
            .map { "\($0.name)=\(PercentEncoding.encode(self[keyPath: $0.path].utf8))" }.joined(separator: "&")
    }

    var isEmpty: Bool { self == ConsoleFilter() }

    /// The selection that a reducer is asked for, or nil if the sender is not a number.
    /// - Parameter max: the largest number of transitions.
    func selection(max: Int) -> HistoryFilter? {
        func value(_ text: String) -> String? { text.isEmpty ? nil : text }
        let session = UInt64(sender)
        guard sender.isEmpty || session != nil else { return nil }
        return HistoryFilter(
            kind: "event", event: value(event), session: session, effect: value(effect), text: value(text), max: max)
    }
}
