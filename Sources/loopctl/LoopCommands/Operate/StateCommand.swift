import Linux
import LoopCore
import LoopNode
import LoopWire

/// `loopctl state` shows the state now or at an earlier seq.
enum StateCommand {
    static let at = Option(
        optional: "at", JournalOptions.seq, help: "after which transition; without it the newest", environment: .none)
    static let atLeast = Option(
        optional: "at-least", JournalOptions.seq,
        help: "wait until the newest state is at this seq or a later one, as long as --timeout", environment: .none)
    static let path = Option(
        optional: "path", .statePath, help: "only what is there, such as orders.o-17.items[0] or names[\"a.b\"]",
        environment: .none)
    static let section = Option(
        optional: "section", .string.named("NAME"), help: "only this section of the definition; --path begins in it",
        environment: .none)
    static let json = Option(
        flag: "json", help: "print the seq and the state as one JSON document on a line", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "state", abstract: "Print the state, also as it was after an earlier transition.",
            discussion: """
                The newest state is the reducer's own: it has every event whose outcome anyone was told before. An earlier \
                state is made again from the journal: the reducer replays it up to that seq.

                A path has keys with dots in between, and numbers of array elements in brackets, from 0. A key with a dot or a \
                bracket is in quotes and brackets.

                Exit codes: 0 printed, 1 refused, 2 no answer or no such seq in time, 64 wrong usage.
                """,
            groups: [JournalOptions.group, OptionGroup("Output", [at, atLeast, section, path, json])]),
        run: { arguments, _ in
            if let seq = arguments[atLeast] { try await wait(for: UInt64(seq), arguments) }
            return try Operator.run {
                var reducer = try arguments.askJournal()
                let part = StateSelection(section: arguments[section], path: arguments[path] ?? [])
                let (seq, bytes) = try reducer.ask(
                    .state(at: arguments[at].map { UInt64($0) }, part: part == StateSelection() ? nil : part), \.state)
                if let least = arguments[atLeast], seq < UInt64(least) {
                    throw CommandError(
                        "the reducer had come to seq \(least), and is at \(seq): its journal is another; ask again")
                }
                try StandardOutput.line(JSONText.state(bytes, seq: seq, isJSON: arguments[json]))
                return 0
            }
        })

    /// Waits until the reducer has reached a seq.
    private static func wait(for seq: UInt64, _ arguments: ParsedArguments) async throws {
        if arguments[at] != nil {
            throw UsageError(message: "--at and --at-least are not used together", hint: "leave one of them out")
        }
        let limit = arguments[JournalOptions.timeout]
        let end = SystemClock.monotonic + limit
        func ask() throws -> StatusReport {
            try arguments.askStatus(within: min(limit, arguments[JournalOptions.connectTimeout]))
        }
        var status = try ask()
        // Why the newest request has no answer, or nil if it has one.
        var silence: NodeError?
        while status.seq < seq {
            guard status.exitCode == nil, SystemClock.monotonic < end else {
                let place = silence.map { "it was at \(status.seq), and then \($0)" } ?? "it is at \(status.seq)"
                throw CommandError(
                    "the state has not come to seq \(seq) within \(limit): \(place)"
                        + (status.exitCode == nil ? "" : ", and the loop has ended"))
            }
            // A report shows one moment, and no request waits for a seq, so ask again.
            try await Task.sleep(for: .milliseconds(50))
            do {
                (status, silence) = try (ask(), nil)
            } catch let error as NodeError {
                guard case .noAnswer = error else { throw error }
                silence = error
            }
        }
    }
}

extension ValueType where Value == [String] {
    /// A path in a state: `orders.o-17.items[0]`, `names["a.b"]`.
    static var statePath: ValueType {
        ValueType(
            placeholder: "PATH", expected: "keys with dots in between, and numbers or keys in quotes in brackets",
            read: { StatePath.steps(of: $0) }, write: { $0.joined(separator: ".") })
    }
}
