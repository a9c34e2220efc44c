import Linux
import LoopNode
import LoopWire

/// `loopctl effects` lists the effects that the state asks for, and says what each of them waits for.
enum EffectsCommand {
    static let effect = Positional(optional: "ID", .string, help: "only this effect, such as 0.17.2")
    static let feedback = Option(optional: "feedback", .string.named("NAME"), help: "only effects of this feedback")
    static let state = Option(
        optional: "state", .choice(ListedEffect.State.allCases.map(\.rawValue)), help: "only effects in this state")
    static let max = Option("max", .int(in: 1...10_000), default: 100, help: "how many to list")

    static let subcommand = Subcommand(
        asking: Command(
            "effects", abstract: "List the effects that the state asks for, and why they wait.",
            discussion: """
                They are in the order of their IDs, so the oldest of a feedback come first. An ID has the number of the \
                feedback, the seq of the transition that asked for the effect, and a number among several.

                Exit codes: 0 done, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group, OptionGroup("Output", [feedback, state, max, JournalOptions.json])],
            positionals: [effect])
    ) { arguments, reducer in
        let selection = EffectSelection(
            feedback: arguments[feedback], state: arguments[state].flatMap { ListedEffect.State(rawValue: $0) },
            effect: arguments[effect], max: arguments[max])
        let answer = try reducer.ask(.effects(selection))
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
                ("effects", "[\(effects.map(json).joined(separator: ","))]"), ("others", "\(others)"),
            ])
        }
        if effects.isEmpty { return "no such effect is live" }
        let rows = effects.map { effect in
            [
                effect.effect, effect.feedback, effect.state.rawValue,
                effect.waitMilliseconds.map { Duration.milliseconds($0).text } ?? "-", "\(effect.failures)",
                JSONText.onOneLine(effect.text, 100),
                effect.isRequestLeftOut
                    ? "\(effect.requestBytes) bytes, too large for the list"
                    : JSONText.onOneLine(JSONText.document(effect.request), 60),
            ]
        }
        let table = StatusTable.table(
            ["ID", "FEEDBACK", "STATE", "WAITS", "FAILURES", "WHY", "REQUEST"], rows, left: [0, 1, 2, 5, 6])
        return others == 0 ? table : table + "\nand \(others) more (--max, --feedback, --state)"
    }

    private func json(_ effect: ListedEffect) -> String {
        JSONText.object([
            ("effect", JSONText.quoted(effect.effect)), ("feedback", JSONText.quoted(effect.feedback)),
            ("state", JSONText.quoted(effect.state.rawValue)), ("reason", JSONText.quoted(effect.reason.rawValue)),
            ("text", JSONText.quoted(effect.text)), ("seq", "\(effect.seq)"),
            ("waitMilliseconds", effect.waitMilliseconds.map { "\($0)" }), ("failures", "\(effect.failures)"),
            ("request", effect.isRequestLeftOut ? nil : JSONText.document(effect.request)),
            ("requestBytes", "\(effect.requestBytes)"),
        ])
    }
}

extension ListedEffect {
    fileprivate var isRequestLeftOut: Bool { request.isEmpty && requestBytes > 0 }
}
