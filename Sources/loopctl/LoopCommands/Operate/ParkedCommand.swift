import Linux
import LoopNode
import LoopWire

/// `loopctl parked` lists the effects that failed for good, and runs one again.
enum ParkedCommand {
    static let effect = Positional("ID", .string, help: "the effect as the list names it, such as 0.17.2")

    static let subcommand = Subcommand(
        asking: Command(
            "parked", abstract: "List the effects that failed for good, or run one again.",
            discussion: """
                An effect that failed as often as its feedback's policy allows is parked: the state is untouched, and \
                nothing runs it again until an operator asks for it. It goes when the state no longer wants it.

                Exit codes: 0 done, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group],
            subcommands: [
                Command(
                    "list", abstract: "List them.",
                    groups: [JournalOptions.output]),
                Command(
                    "retry", abstract: "Run one again; its failures are forgotten, and who asked is recorded.",
                    positionals: [effect]),
            ], defaultSubcommand: "list")
    ) { arguments, reducer in
        if arguments.path.last == "retry" {
            try reducer.order(.retryParked(effect: arguments[effect], who: Operator.name))
        } else {
            let effects = try reducer.ask(.parked)
            try StandardOutput.line(ParkedPrinter(isJSON: arguments[JournalOptions.json]).text(for: effects))
        }
        return 0
    }
}

/// Writes parked effects, for people or as a JSON document.
struct ParkedPrinter {
    let isJSON: Bool

    func text(for effects: [LoopWire.ParkedEffect]) -> String {
        if isJSON { return "[\(effects.map(json).joined(separator: ","))]" }
        if effects.isEmpty { return "no effect is parked" }
        let rows = effects.map { effect in
            [
                effect.effect, effect.feedback, "\(effect.failures)", JSONText.onOneLine(effect.message, 80),
                effect.isRequestLeftOut
                    ? "\(effect.requestBytes) bytes, too large for the list"
                    : JSONText.onOneLine(JSONText.document(effect.request), 80),
            ]
        }
        return StatusTable.table(["ID", "FEEDBACK", "FAILURES", "LAST", "REQUEST"], rows, left: [0, 1, 3, 4])
    }

    private func json(_ effect: LoopWire.ParkedEffect) -> String {
        JSONText.object([
            ("effect", JSONText.quoted(effect.effect)), ("feedback", JSONText.quoted(effect.feedback)),
            ("failures", "\(effect.failures)"), ("message", JSONText.quoted(effect.message)),
            ("request", effect.isRequestLeftOut ? nil : JSONText.document(effect.request)),
            ("requestBytes", "\(effect.requestBytes)"),
        ])
    }
}

extension LoopWire.ParkedEffect {
    fileprivate var isRequestLeftOut: Bool { request.isEmpty && requestBytes > 0 }
}
