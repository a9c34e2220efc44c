import LoopCore
import LoopExamples
import LoopNode
import LoopWire

/// Makes one worker hold many effects while everything around it fails.
struct Holder: Sendable {
    let count: Int
    let loop: RemoteLoop<Ledger>
    /// Requests the reducer's status, or returns nil if it does not answer.
    let status: @Sendable () async -> StatusReport?

    /// How many effects the holder holds, and how many there are in all.
    private typealias Held = (byHolder: Int, inAll: Int)

    /// Requests the effects, and waits until the holder holds them.
    /// - Throws: `ChaosFailure` if it does not hold all in time.
    func begin() async throws {
        try await loop.sendAndConfirm(.hold(count: count))
        let held = try await wait { $0.byHolder == count }
        guard held.byHolder == count else {
            throw ChaosFailure("the holder held \(held.byHolder) of \(count) effects before the first fault")
        }
    }

    /// Waits until it holds all of them again, and gives them up.
    func end() async throws -> Evidence.Holding {
        var holding = Evidence.Holding(count: count)
        holding.heldAtEnd = try await wait { $0.byHolder == count }.byHolder
        try await loop.sendAndConfirm(.hold(count: 0))
        holding.leftAtEnd = try await wait { $0.inAll == 0 }.inAll
        return holding
    }

    /// - Returns: the last report within the limit. Without any report, none is held and all exist.
    private func wait(until isRight: (Held) -> Bool) async throws -> Held {
        let limit = SystemClock.monotonic + ChaosPlan.settleLimit
        var held: Held = (0, count)
        while SystemClock.monotonic < limit {
            if let report = await status() {
                held = Self.held(report)
                if isRight(held) { break }
            }
            // Polled, because a reducer does not publish which worker holds which effect.
            try await Task.sleep(for: .milliseconds(100))
        }
        return held
    }

    private static func held(_ report: StatusReport) -> Held {
        // A killed process may be listed for a while, in addition to the present one.
        let leases = report.peers.filter { $0.name == Target.holder.description }.map(\.leases)
        let counts = report.feedbacks.first { $0.name == "hold" }
        return (leases.max() ?? 0, (counts?.running ?? 0) + (counts?.waiting ?? 0) + (counts?.parked ?? 0))
    }
}
