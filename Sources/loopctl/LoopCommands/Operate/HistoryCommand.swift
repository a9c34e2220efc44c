import CBOR
import Linux
import LoopCore
import LoopNode
import LoopWire

/// `loopctl history` shows the journal's records, from the reducer that writes them.
enum HistoryCommand {
    static let from = Option(
        "from", JournalOptions.seq, default: 0, help: "the first seq", environment: .none)
    static let to = Option(
        optional: "to", JournalOptions.seq, help: "the last seq; without it up to the newest", environment: .none)
    static let kind = Option(
        optional: "kind", .choice(HistoryRecord.kinds).named("KIND"),
        help: "only records of this kind, such as event or attempt ended", environment: .none)
    static let event = Option(
        optional: "event", .string.named("CASE"), help: "only events of this case of the event type", environment: .none
    )
    static let session = Option(
        optional: "session", .int(in: 1 ... .max).named("N"), help: "only records of this session", environment: .none)
    static let peer = Option(
        optional: "peer", .peer, help: "only records of sessions that this peer has opened",
        environment: .none)
    static let key = Option(
        optional: "key-name", .string.named("NAME"), help: "only records of sessions that this key has owned",
        environment: .none)
    static let effect = Option(
        optional: "effect", .effect, help: "only records of this effect, such as 0.17.2", environment: .none
    )
    static let text = Option(
        optional: "text", .string.named("TEXT"),
        help: "only records that have this text in their note, or in their event as JSON", environment: .none)
    static let since = Option(
        optional: "since", .wallTime, help: "only what happened at this time or later", environment: .none)
    static let until = Option(
        optional: "until", .wallTime, help: "only what happened before this time", environment: .none)
    static let json = Option(
        flag: "json", help: "print each record as a JSON document on a line", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "history", abstract: "Print the records of the journal.",
            discussion: """
                Events with their seqs, what was refused and why, how attempts of effects ended, sessions, epochs and \
                definitions. Records that belong to no event are shown at the seq of the event before them, and with the \
                time of the record before them if they have none.

                Exit codes: 0 printed, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [
                JournalOptions.group, OptionGroup("Range", [from, to, since, until]),
                OptionGroup("Selection", [kind, event, session, peer, key, effect, text]),
                OptionGroup("Output", [json]),
            ]),
        run: { arguments, _ in
            try Operator.run {
                let (from, to) = (arguments[from], arguments[to])
                if let to, to < from {
                    throw UsageError(
                        message: "--to \(to) is before --from \(from)", hint: "give the smaller one as --from")
                }
                if let since = arguments[since], let until = arguments[until], until <= since {
                    throw UsageError(
                        message: "--until is not after --since", hint: "give the earlier time as --since")
                }
                let filter = HistoryFilter(
                    kind: arguments[kind], event: arguments[event], session: arguments[session].map { UInt64($0) },
                    effect: arguments[effect], text: arguments[text])
                var selection = RecordSelection(
                    filter, peer: arguments[peer], key: arguments[key], since: arguments[since], until: arguments[until]
                )
                var reducer = try arguments.askJournal()
                var (shown, passed) = (0, 0)
                // Sessions of a peer or a key may have begun before the range.
                let first = selection.needsSessions ? 0 : UInt64(from)
                try pages(from: first, through: to.map { UInt64($0) }) { request in
                    try reducer.ask(request, \.history)
                } print: { record in
                    passed += 1
                    guard selection.contains(record), record.seq >= UInt64(from) else { return }
                    shown += 1
                    try StandardOutput.line(record.line(isJSON: arguments[json]))
                }
                if shown == 0, passed > 0 {
                    let schema = arguments[event].flatMap { _ in try? reducer.ask(.schema, \.schema) }
                    let cases = schema?.event.caseNames ?? []
                    StandardError.line("loopctl: " + noneText(of: passed, event: arguments[event], cases: cases))
                }
                return 0
            }
        })

    /// Says that no record is selected, and which events the loop has if it has no such event.
    /// - Parameter cases: the cases of the event type that are known.
    static func noneText(of count: Int, event: String?, cases: [String]) -> String {
        let none = "none of \(count) \(count == 1 ? "record" : "records") is selected"
        guard let event, !cases.isEmpty, !cases.contains(event) else { return none }
        return "\(none); known cases of events: \(cases.joined(separator: ", "))"
    }

    /// Asks for page after page until the last.
    static func pages(
        from: UInt64, through: UInt64?, ask: (AdministrationRequest) throws -> HistoryPage,
        print: (HistoryRecord) throws -> Void
    ) throws {
        var after: UInt64?
        while true {
            let page = try ask(.history(from: from, through: through, after: after))
            for record in page.records { try print(record) }
            guard let next = page.next else { return }
            // Otherwise one page could be repeated for ever.
            guard after.map({ next > $0 }) ?? true else { throw AdministrationError.unexpected }
            after = next
        }
    }
}

extension ValueType where Value == String {
    /// The ID of an effect.
    fileprivate static var effect: ValueType {
        ValueType(
            placeholder: "ID", expected: "an effect such as 0.17.2", read: { EffectID($0) == nil ? nil : $0 },
            write: { $0 })
    }

    /// The first digits of a peer's ID, as records have them.
    fileprivate static var peer: ValueType {
        ValueType(
            placeholder: "ID", expected: "8 hexadecimal digits, such as ccf2f5f3",
            read: { $0.utf8.count == 8 && $0.allSatisfy(\.isHexDigit) ? $0.lowercased() : nil }, write: { $0 })
    }
}

extension TypeShape {
    /// The names of the cases that are known of an enum. Empty for other types.
    var caseNames: [String] {
        switch self {
        case .cases(_, let cases, _): cases.map(\.name)
        case .oneOf(_, let values): values.map { String($0.filter { $0 != "\"" }) }
        default: []
        }
    }
}

/// The records that are shown, of those of a range. Nil selects all.
struct RecordSelection {
    var filter = HistoryFilter()
    /// The peer that has opened the session.
    var peer: String?
    /// The key that owns the session.
    var key: String?
    var since: WallTime?
    var until: WallTime?
    /// The time of the newest record that has one, in milliseconds since 1970.
    private var time: Int64?
    /// The sessions of the peer, and those of the key.
    private var ofPeer: Set<UInt64> = [], ofKey: Set<UInt64> = []

    init(
        _ filter: HistoryFilter = HistoryFilter(), peer: String? = nil, key: String? = nil, since: WallTime? = nil,
        until: WallTime? = nil
    ) {
        (self.filter, self.peer, self.key, self.since, self.until) = (filter, peer, key, since, until)
    }

    /// Whether the selection depends on records of sessions.
    var needsSessions: Bool { peer != nil || key != nil }

    /// Whether a record is selected. Records must be passed in their order.
    mutating func contains(_ record: HistoryRecord) -> Bool {
        time = record.time ?? time
        if let session = record.session {
            if let peer, record.note == "peer \(peer)" { ofPeer.insert(session) }
            if let key, record.note == "key \(key)" { ofKey.insert(session) }
        }
        if peer != nil, !(record.session.map(ofPeer.contains) ?? false) { return false }
        if key != nil, !(record.session.map(ofKey.contains) ?? false) { return false }
        if let since, time.map({ $0 < since.milliseconds }) ?? true { return false }
        if let until, let time, time >= until.milliseconds { return false }
        return filter.selects(record)
    }
}
