import CBOR
import Linux
import LoopCore
import LoopNode
import LoopWire

/// `loopctl why` says why an effect has its state, or which transitions changed a part of the state.
enum WhyCommand {
    /// What is asked about.
    enum Subject: Equatable {
        case effect(EffectID)
        case part([String])
    }

    static let subject = Option(
        positional: "EFFECT|PATH", .subject,
        help: "an effect, such as 0.17.2, or a part of the state, such as orders.o-17.status")
    static let section = Option(
        optional: "section", .string.named("NAME"), help: "the section of the definition in which the path begins",
        environment: .none)
    static let before = Option(
        optional: "before", JournalOptions.seq, help: "only changes before this seq", environment: .none)
    static let max = Option(
        "max", .int(in: 1...1000), default: 10, help: "how many changes to show", environment: .none)

    static let subcommand = Subcommand(
        asking: Command(
            "why", abstract: "Say why an effect waits, or which transitions changed a part of the state.",
            discussion: """
                For a path, the newest change comes first. The reducer rebuilds the states from the journal, and compares the \
                part before and after each event, so the answer may take as long as a replay.

                Exit codes: 0 printed, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [
                JournalOptions.group, OptionGroup("Changes of a part", [section, before, max]), JournalOptions.output,
            ],
            positionals: [subject]),
        isLong: true
    ) { arguments, reducer in
        let isJSON = arguments[JournalOptions.json]
        let path: [String]
        switch arguments[subject] {
        case .effect(let id):
            try explain(id, &reducer, isJSON: isJSON)
            return 0
        case .part(let steps): path = steps
        }
        let part = StateSelection(section: arguments[section], path: path)
        let answer = try reducer.ask(
            .changes(of: part, before: arguments[before].map { UInt64($0) }, max: arguments[max]), \.changes)
        try StandardOutput.line(
            ChangesPrinter(isJSON: isJSON).text(for: answer.changes, from: answer.from, because: answer.because))
        return 0
    }

    private static func explain(_ id: EffectID, _ reducer: inout Operator, isJSON: Bool) throws {
        let selection = EffectSelection(effect: "\(id)", max: 1)
        guard let effect = try reducer.ask(.effects(selection), \.effects).effects.first else {
            throw AdministrationError.refused(
                "the effect \(id) is not wanted by the state (any more); see: loopctl effects")
        }
        if !isJSON { try StandardOutput.line(effect.explanation) }
        // A reducer without a journal, or one that refuses this key the history, does not say.
        let lost =
            effect.mayEndWorkers
            ? try? workersLost(with: id) { request in try reducer.ask(request, \.history) } : nil
        if isJSON {
            try StandardOutput.line(effect.json(workersLost: lost))
        } else if let lost, lost > 0 {
            try StandardOutput.line(
                "\(lost) earlier \(lost == 1 ? "attempt" : "attempts") ended because the worker was not heard any more;"
                    + " the effect may end its workers; see: loopctl history --effect \(id)")
        }
    }

    /// How many attempts of an effect have ended as unresponsive. The search ends at the transition that made the effect.
    static func workersLost(
        with id: EffectID, ask: (AdministrationRequest) throws -> HistoryPage
    ) throws -> Int {
        let filter = HistoryFilter(kind: "attempt ended", effect: "\(id)")
        var (count, before) = (0, UInt64?.none)
        while true {
            let page = try ask(.history(from: id.seq.value, through: nil, after: before, filter: filter))
            count += page.records.count { filter.selects($0) && $0.note?.hasPrefix("unresponsive") == true }
            guard let next = page.next else { return count }
            // Otherwise one page could be repeated for ever.
            guard before.map({ next < $0 }) ?? true else { throw AdministrationError.unexpected }
            before = next
        }
    }
}

extension ValueType where Value == WhyCommand.Subject {
    fileprivate static var subject: ValueType {
        ValueType(
            placeholder: "EFFECT|PATH", expected: "an effect such as 0.17.2, or a path such as orders.o-17.items[0]",
            read: { text in
                EffectID(text).map { .effect($0) } ?? StatePath.steps(of: text).map { .part($0) }
            },
            write: { subject in
                switch subject {
                case .effect(let id): "\(id)"
                case .part(let steps): steps.joined(separator: ".")
                }
            })
    }
}

/// Writes the changes of a part of the state, for people or as a JSON document.
struct ChangesPrinter {
    let isJSON: Bool

    /// - Parameters:
    ///   - from: the seq of the oldest state that was compared.
    ///   - reason: why no older states can be compared, or nil if they can, or if there are none.
    func text(for changes: [PartChange], from: UInt64, because reason: String? = nil) -> String {
        if isJSON {
            return JSONText.object([
                ("changes", "[\(changes.map(json).joined(separator: ","))]"), ("from", "\(from)"),
                ("because", reason.map(JSONText.quoted)),
            ])
        }
        let lines = changes.flatMap { change in
            [
                change.event.line(isJSON: false),
                "    → \(value(change).map { JSONText.onOneLine($0, 500) } ?? "absent")",
            ]
        }
        let rest =
            from == 0
            ? "no other transition changed it"
            : "transitions up to seq \(from) were not compared"
                + (reason.map { ": \($0)" } ?? "; for older changes: --before \(from + 1)")
        return (lines + [rest]).joined(separator: "\n")
    }

    /// The part after a change as JSON, or nil if it did not exist.
    private func value(_ change: PartChange) -> String? {
        guard change.valueBytes > 0 else { return nil }
        return change.value.isEmpty
            ? "\(change.valueBytes) bytes, for which the answer has no room" : JSONText.document(change.value)
    }

    private func json(_ change: PartChange) -> String {
        JSONText.object([
            ("event", change.event.line(isJSON: true)),
            ("value", change.value.isEmpty ? nil : JSONText.document(change.value)),
            ("valueBytes", "\(change.valueBytes)"),
        ])
    }
}

extension ListedEffect {
    /// Whether it runs or is to run, so that attempts that lost their workers matter.
    fileprivate var mayEndWorkers: Bool {
        [.runs, .silent, .noWorker, .unclaimed, .retry].contains(reason)
    }

    /// What the effect waits for, in a few lines for people.
    var explanation: String {
        var lines = ["\(effect) of \(feedback) is \(state.rawValue): \(JSONText.onOneLine(text))"]
        if let waitMilliseconds { lines.append("it has waited for \(Duration.milliseconds(waitMilliseconds).text)") }
        if failures > 0 { lines.append("\(failures) \(failures == 1 ? "attempt has" : "attempts have") failed") }
        lines.append("the transition \(seq) made its request: \(JSONText.onOneLine(shownRequest, 500))")
        return lines.joined(separator: "\n")
    }
}
