import LoopCollections
import Linux

/// The service manager that has started this process, such as systemd (sd_notify(3)).
package struct ServiceManager: Hashable, Sendable {
    /// The path of its socket, or its name in the abstract namespace after an "@".
    let socket: String
    /// How long it waits for a sign of life before it ends the process, or nil if it waits for none.
    let watchdog: Duration?

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    /// - Returns: nil if no service manager wants to be told anything by this process.
    package init?(environment: [String: String], processID: Int32 = System.processID) {
        guard let socket = environment["NOTIFY_SOCKET"], socket.first == "/" || socket.first == "@" else { return nil }
        self.socket = socket
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// How often to tell it how the node is. A third of the time leaves room for a message that is late.
    var interval: Duration { min(.seconds(10), watchdog.map { $0 / 3 } ?? .seconds(10)) }

    /// Sends variables, one on each line.
    /// - Throws: `SystemError` if no process receives at the socket.
    func tell(_ lines: [String]) throws(SystemError) {
        try Sockets.send(Array(lines.joined(separator: "\n").utf8), toUnixSocket: socket)
    }
}

/// Tells the service manager that the node has started, how it is, and that its thread takes turns.
///
/// `READY=1` is sent when the node's thread answers for the first time: the process runs, though it may wait for its journal or
/// its reducer. `STATUS` says whether it does its work. `WATCHDOG=1` follows each answer of the node's thread, so that a node that is
/// stuck is started again.
final class ServiceNotice: Sendable {
    private let thread: WatchThread

    /// Begins to tell, until the object is released.
    init(_ manager: ServiceManager, _ source: any HealthSource, _ log: NodeLog) throws(NodeError) {
        thread = try WatchThread("loop-notice") { goesOnAfter in
            var status: String?
            repeat {
                guard let report = Self.report(of: source, goesOnAfter) else { continue }
                var lines = ["READY=1", "WATCHDOG=1"]
                if report.isReady.text != status {
                    lines.append("STATUS=\(JSONText.onOneLine(report.isReady.text, 200))")
                }
                status = report.isReady.text
                do throws(SystemError) {
                    try manager.tell(lines)
                } catch {
                    log.note(.badAddress, "the service manager cannot be told anything: \(error)", level: .warning)
                    return
                }
            } while goesOnAfter(manager.interval)
        }
    }

    /// The answer of the node's thread, or nil if it gives none in time.
    private static func report(of source: any HealthSource, _ goesOnAfter: (Duration) -> Bool) -> HealthReport? {
        let inquiry = source.ask()
        let end = ContinuousClock.now + HealthServer.patience
        while ContinuousClock.now < end {
            if let report = inquiry.report() { return report }
            guard goesOnAfter(.milliseconds(5)) else { return nil }
        }
        return nil
    }
}
