import Glibc
import Linux
import LoopNode
import LoopWire

/// An operator at this terminal, who asks a reducer and prints its answers.
struct Operator: ~Copyable {
    private var call: AdministrationCall
    private let reducer: ReducerAddress
    private let limit: Duration

    /// - Parameter limit: how long the reducer may be silent.
    init(reducer: ReducerAddress, limit: Duration) throws {
        let call = try AdministrationCall(reducer: reducer)
        self.reducer = reducer
        self.limit = limit
        self.call = call
    }

    /// Asks a question. If the answer takes long, a line on standard error says so.
    mutating func ask<Answer>(
        _ request: AdministrationRequest, _ read: (AdministrationAnswer) -> Answer?
    ) throws -> Answer {
        let (reducer, limit) = (reducer, limit)
        do {
            return try call.ask(request, read, within: limit) { silence in
                StandardError.line(
                    "loopctl: no answer from \(reducer) for \(silence); it is waited for up to \(limit) (--timeout)")
            }
        } catch NodeError.noAnswer(let reducer, let limit, nil) {
            throw NodeError.noAnswer(reducer, after: limit, because: AddressLook.text(at: reducer))
        } catch let error as AdministrationError {
            guard case .silent(_, _, parts: 0, _, because: nil) = error else { throw error }
            throw CommandError("\(error); \(AddressLook.text(at: reducer))")
        }
    }

    /// Requests an action, and prints its result.
    mutating func order(_ request: AdministrationRequest) throws {
        try StandardOutput.line(try ask(request, \.done))
    }

    /// Runs a body that asks questions. A refusal becomes exit code 1.
    static func run(_ body: () throws -> Int32) throws -> Int32 {
        do {
            return try body()
        } catch AdministrationError.refused(let why) {
            StandardError.line("loopctl: refused: \(why)")
            return 1
        }
    }

    /// The operator's name for the journal: user@host.
    static var name: String {
        let machine = System.hostName
        let user = System.userName ?? "uid \(geteuid())"
        return "\(user)@\(machine.isEmpty ? "?" : machine)"
    }
}

/// How long answers may take if they need a walk through the journal.
enum JournalOptions {
    static let timeout = Option(
        "timeout", .duration(in: .milliseconds(10) ... .seconds(86_400)), default: .seconds(60),
        help: "how long the reducer may be silent", environment: .variable("LOOP_CTL_TIMEOUT"))
    static let json = Option(flag: "json", help: "print JSON", environment: .none)

    /// The reducer must first answer a status request, because the real answer may take long.
    static let connectTimeout = Option(
        "connect-timeout", .duration(in: .milliseconds(10) ... .seconds(3600)), default: .seconds(5),
        help: "how long the first sign of life may take")

    static let group = OptionGroup("Connection", AddressOptions.all + [connectTimeout, timeout])
    static let output = OptionGroup("Output", [json])

    /// The type of a seq on the command line.
    static let seq = ValueType.int(in: 0 ... .max).named("SEQ")
}

extension ParsedArguments {
    /// Makes an operator for the reducer that these arguments name, for questions that may keep it busy for a while.
    func askJournal() throws -> Operator {
        let limit = self[JournalOptions.timeout]
        let leader = try askLeader(within: min(limit, self[JournalOptions.connectTimeout]))
        return try Operator(reducer: leader.address, limit: limit)
    }

    /// Makes an operator for the reducer that these arguments name.
    func ask() throws -> Operator {
        try Operator(reducer: try reducer, limit: self[ConnectionOptions.timeout])
    }
}
