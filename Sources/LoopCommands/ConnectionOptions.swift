import LoopNode
import LoopOptions
import LoopWire

/// Which reducer a command speaks to, and how long it waits for it.
enum ConnectionOptions {
    static let timeout = Option(
        "timeout", .duration(in: .milliseconds(10) ... .seconds(3600)), default: .seconds(2),
        help: "how long an answer may take, with the connection", environment: .variable("LOOP_CTL_TIMEOUT"))

    static let group = OptionGroup("Connection", AddressOptions.all + [timeout])
}

extension ParsedArguments {
    /// What the reducer that these arguments name says about itself.
    /// - Throws: `NodeError.noAnswer` with the reason, as far as a look at the address shows it.
    func askStatus(within limit: Duration) throws -> StatusReport {
        do {
            return try StatusProbe.ask(try reducer, within: limit)
        } catch NodeError.noAnswer(let reducer, let limit, let why) {
            throw NodeError.noAnswer(reducer, after: limit, because: why ?? AddressLook.text(at: reducer))
        }
    }
}
