import Linux
import LoopNode
import LoopWire

/// `loopctl effects` lists the effects that the state asks for, says what each of them waits for, and retries a parked one.
enum EffectsCommand {
    static let parked = Option(positional: "ID", .string, help: "the effect as the list names it, such as 0.17.2")
    static let feedback = Option(optional: "feedback", .string.named("NAME"), help: "only effects of this feedback")
    static let state = Option(
        optional: "state", .choice(ListedEffect.State.allCases.map(\.rawValue)), help: "only effects in this state")
    static let max = Option("max", .int(in: 1...10_000), default: 100, help: "how many to list")

    static let subcommand = Subcommand(
        asking: Command(
            "effects", abstract: "List the effects that the state asks for, and why they wait; retry a parked one.",
            discussion: """
                They are in the order of their IDs, so the oldest of a feedback come first. An ID has the number of the \
                feedback, the seq of the transition that asked for the effect, and a number among several.

                An effect that failed as often as its feedback's policy allows is parked. Nothing runs it again until an \
                operator asks for it. It disappears when the state no longer asks for it.

                Exit codes: 0 done, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group],
            subcommands: [
                Command(
                    "list", abstract: "List them.",
                    groups: [OptionGroup("Output", [feedback, state, max, JournalOptions.json])]),
                Command(
                    "retry",
                    abstract: "Run a parked one again, its failures forgotten; the journal records the operator.",
                    positionals: [parked]),
            ], defaultSubcommand: "list")
    ) { arguments, reducer in
        if arguments.path.last == "retry" {
            try reducer.order(.retryParked(effect: arguments[parked], who: Operator.name))
            return 0
        }
        let selection = EffectSelection(
            feedback: arguments[feedback], state: arguments[state].flatMap { ListedEffect.State(rawValue: $0) },
            max: arguments[max])
        let answer = try reducer.ask(.effects(selection), \.effects)
        try StandardOutput.line(
            EffectsPrinter(isJSON: arguments[JournalOptions.json]).text(for: answer.effects, others: answer.others))
        return 0
    }
}

/// Writes live effects, for people or as a JSON document.
struct EffectsPrinter {
    let isJSON: Bool

    func text(for effects: [ListedEffect], others: Int) -> String {
        if isJSON {
            return JSONText.object([
                ("effects", "[\(effects.map { $0.json() }.joined(separator: ","))]"), ("others", "\(others)"),
            ])
        }
        if effects.isEmpty { return "no such effect is live" }
        let rows = effects.map { effect in
            [
                effect.effect, effect.feedback, effect.state.rawValue,
                effect.waitMilliseconds.map { Duration.milliseconds($0).text } ?? "-", "\(effect.failures)",
                JSONText.onOneLine(effect.text, 100),
                JSONText.onOneLine(effect.shownRequest, 60),
            ]
        }
        let table = StatusTable.table(
            ["ID", "FEEDBACK", "STATE", "WAITS", "FAILURES", "WHY", "REQUEST"], rows, left: [0, 1, 2, 5, 6])
        return others == 0 ? table : table + "\nand \(others) more (--max, --feedback, --state)"
    }
}

extension ListedEffect {
    private var isRequestLeftOut: Bool { request.isEmpty && requestBytes > 0 }

    /// The request as JSON, or how large it is if the answer has no room for it.
    var shownRequest: String {
        isRequestLeftOut ? "\(requestBytes) bytes, too large for the list" : JSONText.document(request)
    }

    /// The effect as a JSON document.
    /// - Parameter workersLost: how many of its attempts have ended as unresponsive, or nil if that is not known.
    func json(workersLost: Int? = nil) -> String {
        JSONText.object([
            ("effect", JSONText.quoted(effect)), ("feedback", JSONText.quoted(feedback)),
            ("state", JSONText.quoted(state.rawValue)), ("reason", JSONText.quoted(reason.rawValue)),
            ("text", JSONText.quoted(text)), ("seq", "\(seq)"),
            ("waitMilliseconds", waitMilliseconds.map { "\($0)" }), ("failures", "\(failures)"),
            ("workersLost", workersLost.map { "\($0)" }),
            ("request", isRequestLeftOut ? nil : JSONText.document(request)), ("requestBytes", "\(requestBytes)"),
        ])
    }
}
