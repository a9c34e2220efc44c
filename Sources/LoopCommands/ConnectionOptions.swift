import LoopNode
import LoopOptions

/// Which reducer a command speaks to, and how long it waits for it.
enum ConnectionOptions {
    static let reducer = Option(
        "reducer", .endpoint, default: "tcp://127.0.0.1:7710", help: "the address of the reducer")
    static let timeout = Option(
        "timeout", .duration(in: .milliseconds(10) ... .seconds(3600)), default: .seconds(2),
        help: "how long an answer may take", environment: .variable("LOOP_CTL_TIMEOUT"))

    static let reducerGroup = OptionGroup("Connection", [reducer])
    static let group = OptionGroup("Connection", [reducer, timeout])
}
