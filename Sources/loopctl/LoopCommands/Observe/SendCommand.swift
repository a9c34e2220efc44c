import CBOR
import Glibc
import Linux
import LoopCore
import LoopNode
import LoopWire

/// `loopctl send` sends one event, and prints the seq at which it was applied.
enum SendCommand {
    static let event = Option(
        optionalPositional: "EVENT", .string,
        help: #"the event as JSON, such as '{"add":{"_0":3}}', or - to read standard input"#)
    static let timeout = Option(
        "timeout", .duration(in: .milliseconds(10) ... .seconds(3600)), default: .seconds(10),
        help: "how long the outcome may take, with the check before it", environment: .variable("LOOP_CTL_TIMEOUT"))
    static let outbox = Option(
        optional: "outbox", .path(),
        help: "keep the event in this file until its outcome is known; what an earlier run left there is sent first")
    static let flush = Option(
        flag: "flush", help: "send what is left in the outbox; EVENT may be left out", environment: .none)

    static let file = Option(
        optional: "file", .path(takesStream: true), help: "read the event from this file, or - to read standard input",
        environment: .none)

    static let answer = Option(
        flag: "answer", help: "print the answer to the event as JSON, instead of the seq", environment: .none)

    static let traceparent = Option(
        optional: "traceparent", .traceContext,
        help: "the place of the event in a trace, as the header of W3C Trace Context; by default, TRACEPARENT has it",
        environment: .none)

    /// The context in the environment. One that cannot be read is ignored, because this caller may not have set it.
    private static func trace(in environment: [String: String]) -> TraceContext? {
        guard let text = environment["TRACEPARENT"], !text.isEmpty else { return nil }
        let trace = TraceContext(traceparent: text)
        if trace == nil {
            StandardError.line(
                "loopctl: the event is sent without a trace: TRACEPARENT is no header of W3C Trace Context: \(text.shellWord)"
            )
        }
        return trace
    }

    static let subcommand = Subcommand(
        command: Command(
            "send", abstract: "Send one event, and print the seq at which it was applied.",
            discussion: """
                An event is written as its type is coded: an enum's case is an object of one entry, named for the case, that \
                holds the case's values by their labels (_0, _1, … where they have none).

                With --outbox the event is on disk before it leaves. If no outcome comes in time, or this program is \
                ended, the event stays there; the next call with the same file sends it, under the number it had, so \
                that it is applied once however often it is sent.

                The reducer is asked first whether it reads the whole event. One that is no event of the loop, or that has \
                fields which the loop does not read, is not sent. Where no reducer can say, the event is sent as it is.

                With --answer the loop's definition is asked what it answers to the event, by the state right after it.

                Exit codes: 0 applied, 1 refused, 2 the outcome is not known, 3 applied but not answered (with --answer), \
                64 wrong usage.
                """,
            groups: [
                OptionGroup("Connection", AddressOptions.all + [timeout, answer, traceparent]),
                OptionGroup("Event", [file]),
                OptionGroup("Check", [SendCheck.allowUnknownFields]),
                OptionGroup("Outbox", [outbox, flush]),
            ], positionals: [event]),
        run: run)

    /// The outcomes of all events.
    private struct Report: Sendable {
        var left: [RecoveredEvent] = []
        /// The outcome of the event, or nil if there was none to send.
        var outcome: Result<Applied, AskError>?
    }

    /// The seq at which an event was applied, and the answer to it, if one was requested.
    private struct Applied: Sendable {
        var seq: Seq
        var answer: [UInt8]?

        var text: String { answer.map { JSONText.document($0) } ?? "\(seq.value)" }
    }

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        let event = try encoded(arguments)
        let began = SystemClock.monotonic
        let (reducer, limit, outbox) = (try arguments.reducer, arguments[timeout], arguments[outbox])
        if let event, let flaw = try await flaw(in: event, arguments) {
            StandardError.line("loopctl: not sent: \(flaw)")
            return 1
        }
        let (asks, trace) = (arguments[answer], arguments[traceparent] ?? trace(in: environment))
        let connection = try RemoteConnection(
            loop: "", reducer: reducer, name: "loopctl send", outbox: outbox,
            stopLimit: outbox == nil ? .zero : .milliseconds(250))
        let fate =
            outbox.map {
                "what is not settled stays in \($0), and goes out with the next loopctl send"
                    + " --outbox \($0.shellWord)"
            }
            ?? "whether the event is applied is not known"
        let tooLate = CommandError("no outcome from \(reducer) within \(limit): \(fate); is the reducer running?")
        let result: Result<Report, any Error> = await withTaskGroup(of: Result<Report, any Error>.self) { group in
            group.addTask {
                await TraceContext.$current.withValue(trace) { await send(event, asks: asks, by: connection) }
            }
            group.addTask {
                // A missing outcome gives no event, so only the time limit ends the wait.
                try? await Task.sleep(for: began + limit - SystemClock.monotonic)
                return .failure(tooLate)
            }
            let first = await group.next() ?? .failure(tooLate)
            group.cancelAll()
            // Ends a send that is still in flight.
            await connection.close()
            return first
        }
        let report = try result.get()
        for line in report.left.map({ PrintableText.line(text($0)) }) {
            if event == nil { try StandardOutput.line(line) } else { StandardError.line("loopctl: \(line)") }
        }
        switch report.outcome {
        case .success(let applied):
            try StandardOutput.line(applied.text)
            return 0
        case .failure(let error):
            if let failure = connection.failure { throw failure }
            StandardError.line(PrintableText.line("loopctl: \(error)"))
            return error.seq == nil ? 1 : 3
        case nil:
            if report.left.isEmpty { try StandardOutput.line("nothing to recover") }
            return report.left.allSatisfy(\.isApplied) ? 0 : 1
        }
    }

    private static func flaw(in event: [UInt8], _ arguments: ParsedArguments) async throws -> String? {
        try await SendCheck.flaw(
            in: event, for: try arguments.reducer, within: arguments[timeout], isKept: arguments[outbox] != nil,
            allowsUnknown: arguments[SendCheck.allowUnknownFields])
    }

    private static func encoded(_ arguments: ParsedArguments) throws -> [UInt8]? {
        if arguments[flush], arguments[outbox] == nil {
            throw UsageError(message: "--flush is for an outbox", hint: "name it: --outbox FILE")
        }
        guard let text = try text(arguments) else {
            if arguments[flush] { return nil }
            throw UsageError(message: "EVENT is missing", hint: "it is \(event.declaration.help)")
        }
        do {
            return try CBOR.fromJSON(text: text)
        } catch {
            throw UsageError(message: "EVENT cannot be read: \(error)", hint: "it is one JSON document, in quotes")
        }
    }

    /// The event's JSON. A command line has space for 128 KiB, a file and standard input for more.
    private static func text(_ arguments: ParsedArguments) throws -> String? {
        let path: String
        switch (arguments[event], arguments[file]) {
        case (_?, _?): throw UsageError(message: "EVENT and --file are given", hint: "give one of them")
        case ("-"?, nil): path = "-"
        case (let text, nil): return text
        case (nil, let file?): path = file
        }
        return try Self.text(of: path)
    }

    /// - Parameter path: the path of a file, or `-` for standard input.
    private static func text(of path: String) throws -> String {
        let name = path == "-" ? "standard input" : path
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes =
                path == "-"
                ? try StandardInput.bytes(atMost: textBytesMax + 1)
                : try FileSystem.bytes(of: path, atMost: textBytesMax + 1)
        } catch {
            guard path == "-" else { throw error }
            throw SystemError("read standard input", code: error.code, hint: error.code == EBADF ? "is it open?" : nil)
        }
        guard bytes.count <= textBytesMax else {
            throw CommandError("\(name) has more than \(textBytesMax >> 20) MiB, which no event has")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(name) is no text in UTF-8")
        }
        guard text.unicodeScalars.first != "\u{FEFF}" else {
            throw CommandError("\(name) begins with a byte order mark (EF BB BF); save it as UTF-8 without one")
        }
        return text
    }

    /// An event has at most 512 KiB when it is sent. As JSON it may be longer.
    private static let textBytesMax = 8 << 20

    /// Recovered events go first, because they come before the event in the stream.
    private static func send(
        _ event: [UInt8]?, asks: Bool, by connection: RemoteConnection
    ) async -> Result<Report, any Error> {
        var report = Report()
        if let event { report.outcome = await apply(event, asks: asks, by: connection) }
        do throws(NodeError) {
            report.left = try await connection.recoveredEvents()
        } catch {
            return .failure(error)
        }
        return .success(report)
    }

    private static func apply(
        _ event: [UInt8], asks: Bool, by connection: RemoteConnection
    ) async -> Result<Applied, AskError> {
        do throws(AskError) {
            if asks {
                let (answer, state) = try await connection.ask(event)
                return .success(Applied(seq: state.seq, answer: answer))
            }
            do throws(SendRefusal) {
                return .success(Applied(seq: try await connection.send(event, confirmed: true).seq))
            } catch {
                throw AskError.refused(error)
            }
        } catch {
            return .failure(error)
        }
    }

    /// One line about an event that an earlier run did not settle.
    static func text(_ left: RecoveredEvent) -> String {
        let outcome =
            switch left.outcome {
            case .applied(let seq?): "applied at seq \(seq.value)"
            case .applied(nil): "applied"
            case .refused(let refusal): "\(refusal)"
            }
        return "recovered event \(left.number), \(outcome): \(JSONText.document(left.event))"
    }
}

extension RecoveredEvent {
    fileprivate var isApplied: Bool {
        if case .applied = outcome { true } else { false }
    }
}
