import LoopCollections
import Linux

/// The service manager that has started this process, such as systemd (sd_notify(3)).
package struct ServiceManager: Hashable, Sendable {
    /// The path of its socket, or its name in the abstract namespace after an "@".
    let socket: String
    /// How long it waits for a sign of life before it ends the process, or nil if it waits for none.
    let watchdog: Duration?

    /// The variables by which it names itself.
    package static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    /// - Returns: nil if no service manager wants to be told anything by this process.
    package init?(environment: [String: String], processID: Int32 = System.processID) {
        guard let socket = environment["NOTIFY_SOCKET"], socket.first == "/" || socket.first == "@" else { return nil }
        self.socket = socket
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// How often the node's thread is asked. A third of the watchdog's time leaves room for an answer that is late.
    var interval: Duration { max(.milliseconds(10), min(.seconds(2), watchdog.map { $0 / 3 } ?? .seconds(2))) }

    /// Sends variables, one on each line.
    /// - Throws: `SystemError` if no process receives at the socket.
    func tell(_ lines: [String]) throws(SystemError) {
        try Sockets.send(Array(lines.joined(separator: "\n").utf8), toUnixSocket: socket)
    }

    /// Says that the node begins to stop. If that cannot be said, the manager notices the end of the process.
    func tellStopping() { try? tell(["STOPPING=1"]) }
}

/// Tells the service manager that the node has started, how it is, and that its thread takes turns.
///
/// `READY=1` is sent when the node's thread answers for the first time: the process runs, though it may wait for its journal or
/// its reducer. `STATUS` says whether it does its work. `WATCHDOG=1` follows each answer of the node's thread, so that a node that is
/// stuck is started again. The node itself sends `STOPPING=1` when it begins to stop.
final class ServiceNotice: Sendable {
    private let thread: WatchThread

    /// Begins to tell, until the object is released.
    init(_ manager: ServiceManager, _ source: any HealthSource, _ log: NodeLog) throws(NodeError) {
        thread = try WatchThread("loop-notice") { goesOnAfter in
            // What it was told, or nil if it has to be told again.
            var told: String?
            var hasFailed = false
            repeat {
                guard let text = Self.readiness(of: source, goesOnAfter) else { return }
                if manager.watchdog == nil && text == told { continue }
                let status = text == told ? [] : ["STATUS=\(JSONText.onOneLine(text, 200))"]
                do throws(SystemError) {
                    try manager.tell(["READY=1", "WATCHDOG=1"] + status)
                    (told, hasFailed) = (text, false)
                } catch {
                    // Its queue may be full, or it starts again.
                    if !hasFailed {
                        log.note(
                            .badAddress, "the service manager cannot be told anything: \(error)", level: .warning)
                    }
                    (told, hasFailed) = (nil, true)
                }
            } while goesOnAfter(manager.interval)
        }
    }

    /// Whether and why the node does its work, as its thread says. Waits for the answer.
    /// - Returns: nil if the notice has ended meanwhile.
    private static func readiness(of source: any HealthSource, _ goesOnAfter: (Duration) -> Bool) -> String? {
        let inquiry = source.ask()
        while true {
            if let report = inquiry.report() { return report.isReady.text }
            guard goesOnAfter(.milliseconds(5)) else { return nil }
        }
    }
}
