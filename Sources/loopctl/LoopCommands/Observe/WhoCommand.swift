import CBOR
import Linux
import LoopNode
import LoopWire

/// `loopctl who` says where an event came from.
enum WhoCommand {
    static let seq = Option(positional: "SEQ", JournalOptions.seq, help: "the seq of the event")

    static let subcommand = Subcommand(
        asking: Command(
            "who", abstract: "Say who sent an event, and which transition asked for its effect.",
            discussion: """
                The peer and its key are those of the session in which the event was sent. An event of an effect also names the \
                effect, and the transition by which the state began to ask for it.

                Exit codes: 0 printed, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [JournalOptions.group, JournalOptions.output], positionals: [seq]),
        isLong: true
    ) { arguments, reducer in
        let origin = try reducer.ask(.origin(of: UInt64(arguments[seq])), \.origin)
        try StandardOutput.line(arguments[JournalOptions.json] ? origin.json : origin.text)
        return 0
    }
}

extension EventOrigin {
    /// The origin in a few lines, for people.
    var text: String {
        var sender: [String] = []
        if let effect = event.effect { sender.append("by the effect \(effect) of \(feedback ?? "?")") }
        if let session = event.session {
            let owner = key.map { ", key \"\(PrintableText.line($0))\"" } ?? ""
            sender.append(
                "in session \(session) of " + (peer.map { "peer \($0)\(owner)" } ?? "a peer whose record was trimmed"))
        }
        var lines = [
            event.line(isJSON: false),
            sender.isEmpty ? "no peer sent it" : "sent \(sender.joined(separator: ", "))",
        ]
        if let cause {
            lines += ["the effect was asked for by", cause.line(isJSON: false)]
        } else if let effect = event.effect {
            let isFirst = effect.split(separator: ".").dropFirst().first == "0"
            lines.append(
                isFirst ? "the initial state asked for the effect" : "the event that asked for the effect was trimmed")
        }
        return lines.joined(separator: "\n")
    }

    /// The origin as a JSON document.
    var json: String {
        JSONText.object([
            ("event", event.line(isJSON: true)), ("peer", peer.map(JSONText.quoted)), ("key", key.map(JSONText.quoted)),
            ("feedback", feedback.map(JSONText.quoted)), ("cause", cause.map { $0.line(isJSON: true) }),
        ])
    }
}
