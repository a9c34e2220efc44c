import Foundation
import LoopSimulation
import LoopTesting
import Testing

/// The important conversations, word by word. `LOOP_RECORD=1 swift test --filter Transcripts` writes them again.
@Suite struct Transcripts {
    @Test func `a worker that joins late is given what waits`() throws {
        let cluster = Bakery.cluster(workers: 1)
        for loaf in 1...3 { cluster.send(.ordered(loaf), at: .milliseconds(100)) }
        cluster.at(.milliseconds(500)) { $0.joinWorker() }
        cluster.send(.closed, at: .milliseconds(1600))
        try check(cluster, "late-joiner", "A worker joins when the one before it has its hands full.")
    }

    @Test func `a worker that dies keeps its effects until its lease is over`() throws {
        let cluster = Bakery.cluster(workers: 2)
        for loaf in 1...2 { cluster.send(.ordered(loaf), at: .milliseconds(100)) }
        cluster.at(.milliseconds(600)) { $0.killWorker(0) }
        cluster.send(.closed, at: .milliseconds(5500))
        try check(
            cluster, "dead-worker",
            "A worker dies with a loaf in its oven; another process takes its place at once, and its effect when the lease"
                + " is over.")
    }

    @Test func `a reducer that restarts finds the effects running`() throws {
        let cluster = Bakery.cluster(workers: 1)
        cluster.send(.ordered(1), at: .milliseconds(100))
        cluster.at(.milliseconds(500)) { $0.restartReducer() }
        cluster.send(.closed, at: .milliseconds(2500))
        try check(cluster, "reducer-restart", "The reducer is stopped and started again while a loaf is in the oven.")
    }

    @Test func `a gap in the inbox is noticed and repaired`() throws {
        let cluster = Bakery.cluster(workers: 1)
        cluster.at(.milliseconds(50)) { $0.dropInbox(worker: 0, messages: 1) }
        cluster.send(.ordered(1), at: .milliseconds(100))
        cluster.send(.ordered(2), at: .milliseconds(200))
        cluster.send(.closed, at: .milliseconds(2500))
        try check(cluster, "inbox-gap", "The publisher drops a start, as it does for a reader that is too slow.")
    }

    @Test func `an event of a cancelled effect is refused`() throws {
        let cluster = Bakery.cluster(workers: 1)
        cluster.send(.ordered(1), at: .milliseconds(100))
        cluster.at(.milliseconds(800)) { $0.partition(worker: 0, .fromReducer, for: .milliseconds(700)) }
        cluster.send(.cancelled(1), at: .milliseconds(900))
        cluster.send(.closed, at: .milliseconds(2500))
        try check(
            cluster, "stale-event", "A loaf is baked that nobody wants any more; its worker has not heard of that.")
    }

    @Test func `a full outbox holds its sender up and loses nothing`() throws {
        let cluster = Bakery.cluster(workers: 1)
        let planning = cluster.planning
        cluster.planning = { plan in
            planning(&plan)
            plan.outboxEntriesMax = 12
        }
        cluster.at(.milliseconds(50)) { $0.partition(client: 0, .toReducer, for: .milliseconds(500)) }
        for loaf in 1...16 { cluster.send(.cancelled(loaf), at: .milliseconds(100)) }
        cluster.send(.closed, at: .milliseconds(1000))
        try check(
            cluster, "full-outbox", "A client has sixteen events to send and room for four, while nothing gets through."
        )
    }

    // MARK: Files

    private func check(_ cluster: SimulatedCluster<Bakery>, _ name: String, _ title: String) throws {
        let file = URL(filePath: #filePath).appending(path: "../../Transcripts/\(name).txt").standardized
        let text = (["\(title)", ""] + (try cluster.conversation())).joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["LOOP_RECORD"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
            Issue.record("\(name).txt was recorded; look at what changed, and test again without LOOP_RECORD")
            return
        }
        let recorded = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        if recorded == text { return }
        let difference = Difference(from: recorded.split(separator: "\n"), to: text.split(separator: "\n"))
        Issue.record(
            """
            \(name).txt tells another conversation (- recorded, + now); where that is meant: LOOP_RECORD=1 swift test --filter \
            Transcripts
            \(difference)
            """)
    }
}
