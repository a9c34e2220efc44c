import LoopCore
import LoopNode
import LoopOptions
import LoopWire

/// `loopctl send`: one event, and the seq at which it was applied.
enum SendCommand {
    static let event = Positional("EVENT", .string, help: #"the event as JSON, such as '{"add":{"_0":3}}'"#)
    static let timeout = Option(
        "timeout", .duration(in: .milliseconds(10) ... .seconds(3600)), default: .seconds(10),
        help: "how long the outcome may take", environment: .variable("LOOP_CTL_TIMEOUT"))

    static let subcommand = Subcommand(
        command: Command(
            "send", abstract: "Send one event, and print the seq at which it was applied.",
            discussion: """
                An event is written as its type is coded: an enum's case is an object of one entry, named for the case, that \
                holds the case's values by their labels (_0, _1, … where they have none).

                Exit codes: 0 applied, 1 refused, 2 the outcome is not known, 64 wrong usage.
                """,
            groups: [OptionGroup("Connection", [ConnectionOptions.reducer, timeout])], positionals: [event]),
        run: run)

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        let bytes: [UInt8]
        do {
            bytes = try CBOR.fromJSON(text: arguments[event])
        } catch {
            throw UsageError(message: "EVENT cannot be read: \(error)", hint: "it is one JSON document, in quotes")
        }
        let (reducer, limit) = (arguments[ConnectionOptions.reducer], arguments[timeout])
        let connection = try RemoteConnection(
            loop: "", reducer: reducer, name: "loopctl send", observing: .nothing, stopLimit: .zero)
        let tooLate = CommandError(
            "no outcome from \(reducer) within \(limit): whether the event is applied is not known; is the reducer running?"
        )
        let outcome: Result<Seq, any Error> = await withTaskGroup(of: Result<Seq, any Error>.self) { group in
            group.addTask {
                do throws(SendRefusal) {
                    return .success(try await connection.send(bytes, confirmed: true))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return .failure(tooLate)
            }
            let first = await group.next() ?? .failure(tooLate)
            group.cancelAll()
            // Lets go a send that is still under way.
            await connection.close()
            return first
        }
        switch outcome {
        case .success(let seq):
            StandardOutput.line("\(seq.value)")
            return 0
        case .failure(let refusal as SendRefusal):
            if let failure = connection.failure { throw failure }
            StandardError.line("loopctl: \(refusal)")
            return 1
        case .failure(let error):
            throw error
        }
    }
}
