import LoopCore
import LoopExamples
import Testing

@testable import LoopChaos

/// Each check of a run with a database is shown what it is for.
@Suite struct `The checks of a run with a database` {
    /// Two terms, in the second of which nothing was applied first.
    private static let rows: [Evidence.Batch] = [
        .init(term: 1, positions: (1, 2), seqs: (1, 0)), .init(term: 1, positions: (3, 3), seqs: (1, 1)),
        .init(term: 4, positions: (4, 6), seqs: (2, 1)), .init(term: 4, positions: (7, 9), seqs: (2, 4)),
    ]

    private func evidence(_ change: (inout Evidence.Database) -> Void = { _ in }) -> Evidence {
        var evidence = Evidence(schedule: ChaosSchedule(database: 3, seed: 1, duration: .seconds(30)))
        evidence.stateJSON = "{}"
        var database = Evidence.Database(reducerCount: 2)
        database.batches = Self.rows
        database.reducers = ["reducer-1": "{}", "reducer-2": "{}"]
        database.observers = [
            "observer-1": .init(seq: 4, stateJSON: "{}", digests: [1: 11, 4: 44]),
            "observer-2": .init(seq: 4, stateJSON: "{}", digests: [2: 22, 4: 44]),
        ]
        change(&database)
        evidence.database = database
        return evidence
    }

    private func found(
        _ check: Check, _ change: @escaping (inout Evidence.Database) -> Void
    ) -> [String] { check.find(evidence(change)) }

    @Test func `find nothing where all is well`() {
        for check in [Check.oneLeaderForEachSeq, .reducersAgree, .observersAgree] {
            #expect(check.find(evidence()) == [])
        }
    }

    @Test func `find a gap, a leader that wrote after its successor, and seqs that were given twice`() {
        #expect(
            found(.oneLeaderForEachSeq) { $0.batches.remove(at: 1) }.first
                == "position 2 is followed by 4")
        #expect(
            found(.oneLeaderForEachSeq) { $0.batches[3].term = 1 }
                == ["position 7 is of term 1, behind one of term 4"])
        #expect(
            found(.oneLeaderForEachSeq) { $0.batches[3].seqs = (0, 4) }
                == ["the row of seqs 0 to 4 is behind seq 1"])
        #expect(found(.oneLeaderForEachSeq) { $0.batches = [] } == ["the journal has no rows"])
    }

    @Test func `find a reducer that tells another state, and one that never led`() {
        #expect(
            found(.reducersAgree) { $0.reducers["reducer-2"] = "[]" } == ["reducer-2 told another state when it led"])
        #expect(
            found(.reducersAgree) { $0.reducers["reducer-2"] = nil } == ["of 2 reducers 1 have led at the end"])
    }

    @Test func `find an observer that goes back, is behind, or was shown another state`() {
        #expect(
            found(.observersAgree) { $0.observers["observer-1"]?.stepsBack = ["3 after 4"] }
                == ["observer-1 was shown 3 after 4"])
        #expect(
            found(.observersAgree) { $0.observers["observer-2"]?.stateJSON = "[]" }
                == ["observer-2 was not shown the last state"])
        #expect(
            found(.observersAgree) { $0.observers["observer-2"]?.digests[1] = 12 }
                == ["observer-1 and observer-2 were shown different states at 1"])
    }

    @Test func `find a long pause`() {
        var long = evidence()
        long.samples = [(0, 5), (1, 9), (28, 12)].map { time, seq in
            StatusSample(at: .seconds(time), history: "a", epoch: 1, seq: UInt64(seq))
        }
        #expect(Check.throughput.find(long) == ["27.000 s without a new event"])
        long.samples[2].at = .seconds(20)
        #expect(Check.throughput.find(long) == [])
    }
}
