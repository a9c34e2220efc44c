import LoopNode
import LoopWire

/// The options for the address of a reducer, and for the time limit of its answers.
enum ConnectionOptions {
    static let timeout = Option(
        "timeout", .duration(in: .milliseconds(10) ... .seconds(3600)), default: .seconds(2),
        help: "how long an answer may take, with the connection", environment: .variable("LOOP_CTL_TIMEOUT"))

    static let group = OptionGroup("Connection", AddressOptions.all + [timeout])
}

extension ParsedArguments {
    /// The status of the reducer that these arguments name.
    /// - Throws: `NodeError.noAnswer` with the reason, as far as a look at the address shows it.
    func askStatus(within limit: Duration) throws -> StatusReport {
        try explainingSilence { try StatusProbe.ask(try reducer, within: limit) }
    }

    /// The reducer that leads, of those that these arguments name.
    /// - Throws: as `askStatus`, also if only standbys answer.
    func askLeader(within limit: Duration) throws -> StatusProbe.Member {
        try explainingSilence { try StatusProbe.leader(of: try reducer, within: limit) }
    }

    /// The status of all reducers that these arguments name, the leader first.
    /// - Throws: as `askStatus`.
    func askMembers(within limit: Duration) throws -> [StatusProbe.Member] {
        try explainingSilence { try StatusProbe.members(of: try reducer, within: limit) }
    }

    /// The status of all reducers that these arguments name, as a table.
    /// - Throws: as `askStatus`.
    func askTable(within limit: Duration) throws -> StatusTable {
        let members = try askMembers(within: limit)
        let silent = SilentReducer.all(at: try reducer, except: members)
        return StatusTable(members[0].report, members: members, silent: silent, showsAll: self[StatusCommand.all])
    }

    private func explainingSilence<Answer>(_ ask: () throws -> Answer) throws -> Answer {
        do {
            return try ask()
        } catch NodeError.noAnswer(let reducer, let limit, let why) {
            throw NodeError.noAnswer(reducer, after: limit, because: why ?? AddressLook.text(at: reducer))
        }
    }
}
