import CBOR
import LoopCore
import LoopNode
import Synchronization

/// Asks for errands, one after the other, each as soon as the loop has applied the one before.
final class SteadySender: Sendable {
    private struct Life {
        /// From one confirmation to the next, where that took long.
        var pauses: [(from: Double, to: Double)] = []
        var longestPause = 0.0
        var isFinishing = false
    }

    /// No pause of a machine that is busy, and shorter than any takeover behind a kill.
    private static let pauseSeconds = 0.2
    private static let patienceSeconds = 30.0

    private let connection: RemoteConnection
    private let life = Mutex(Life())

    /// - Parameter reducers: the addresses of all of them.
    init(to reducers: String) throws {
        connection = try RemoteConnection(
            loop: Errands.name, reducer: try ReducerAddress(parsing: reducers), name: "sender", log: .silent)
    }

    /// Sends until it is told to finish; then it closes the loop.
    /// - Returns: how many errands there were.
    func run() async throws -> Int {
        var count = 0
        var last = MonotonicTime.seconds
        while !life.withLock({ $0.isFinishing }) {
            count += 1
            _ = try await connection.send(try CBOR.encode(Errands.Event.ask(count)), confirmed: true)
            let now = MonotonicTime.seconds
            life.withLock { [last] life in
                life.longestPause = max(life.longestPause, now - last)
                if now - last > Self.pauseSeconds { life.pauses.append((last, now)) }
            }
            last = now
        }
        _ = try await connection.send(try CBOR.encode(Errands.Event.close), confirmed: true)
        await connection.close()
        return count
    }

    /// The longest time from one confirmation to the next, in seconds, since this was asked last.
    func takeLongestPause() -> Double {
        life.withLock { life in
            defer { life.longestPause = 0 }
            return life.longestPause
        }
    }

    func finish() { life.withLock { $0.isFinishing = true } }

    /// When the first event was confirmed by who came after the reducer that ended then.
    func resumed(after end: Double) async throws -> Double {
        while MonotonicTime.seconds - end < Self.patienceSeconds {
            // What the old one had confirmed may arrive a moment later.
            if let pause = life.withLock({ $0.pauses.last }), pause.to > end, pause.from < end + 0.1 { return pause.to }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw BenchmarkError.promise("no event was applied for \(Self.patienceSeconds) s after the end of a reducer")
    }
}
