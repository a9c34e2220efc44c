import LoopCore

/// Where a node sends the spans of traces, and which share of events begins one. Without it a node passes contexts on, and records
/// nothing.
public struct TraceExport: Hashable, Sendable {
    let host: String
    let port: UInt16
    /// The path for spans.
    let path: String
    let share: Double

    /// Reads the address of a collector for OTLP over HTTP, such as `http://127.0.0.1:4318`. Spans go to `/v1/traces` below it.
    /// - Parameters:
    ///   - url: the address: `http`, a host, and if need be a port (by default 4318) and a path.
    ///   - share: the share of the events without a context that begin a trace, from 0 to 1. Their sender decides.
    /// - Throws: `NodeError.configuration` if the address cannot be used, or if the share is out of range.
    public init(_ url: String, share: Double = 0.01) throws(NodeError) {
        guard (0...1).contains(share) else {
            throw .configuration("the share of events that begin a trace is \(share), and must be from 0 to 1")
        }
        guard
            let match = url.wholeMatch(
                of:
                    /http:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^\s\/:?#@\[\]]+))(?::(\d{1,5}))?((?:\/[A-Za-z0-9\-._~%!$&'()*+,;=:@\/]*)?)/
            ),
            let host = match.output.1 ?? match.output.2, let port = UInt16(match.output.3 ?? "4318"), port > 0
        else {
            throw .configuration(
                "'\(Redaction.of(value: url))' is not an address for traces: give http://HOST:PORT of a collector for OTLP, such as"
                    + " http://127.0.0.1:4318; for https or a password, run a collector on this machine that forwards them"
            )
        }
        self.host = String(host)
        self.port = port
        self.share = share
        let path = match.output.4
        self.path = String(path.hasSuffix("/") ? path.dropLast() : path) + "/v1/traces"
    }

    /// The host and the port as `Host` has them.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
