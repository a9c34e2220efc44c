import LoopCore
import LoopNode
import LoopNodeTesting
import LoopWire
import TestFolders
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A cluster inside the test's process` {
    @Test func `is there within 50 ms, and so is its end`() async throws {
        let clock = ContinuousClock()
        var best = Duration.seconds(60)
        // The machine may be busy with others. What waits for a timer is never this fast.
        for _ in 0..<200 where best >= .milliseconds(50) {
            let began = clock.now
            try await LocalCluster.run(Notes()) { cluster in
                try await cluster.sendAndConfirm(.note(1))
                try await cluster.untilStatus { $0.peers.contains { $0.name == "w0" } }
            }
            best = min(best, clock.now - began)
        }
        #expect(best < .milliseconds(50))
    }

    @Test func `runs effects on its workers and tells the outcome`() async throws {
        let outcome = try await LocalCluster.run(Notes(), workers: 2) { cluster in
            try await cluster.send(.want(3))
            let (_, state) = try await cluster.until { !$0.squares.isEmpty }
            #expect(state.squares == [3: 9])
            try await cluster.send(.end)
            return try await cluster.outcome()
        }
        #expect(outcome == Outcome(text: "0 notes"))
    }

    @Test func `shows the history to an operator`() async throws {
        try await LocalCluster.run(Notes()) { cluster in
            for note in 1...5 { try await cluster.sendAndConfirm(.note(note)) }
            let page = try await cluster.ask(.history(from: 1, through: nil, after: nil), \.history)
            #expect(page.records.filter { $0.kind == "event" }.map(\.seq) == [1, 2, 3, 4, 5])
            #expect(try await cluster.ask(.verify, \.verified).difference == nil)
        }
    }

    @Test func `says what it waited for, and what was there`() async throws {
        let error = await #expect(throws: LocalClusterError.self) {
            try await LocalCluster.run(Notes(), waitLimit: .milliseconds(200)) { cluster in
                try await cluster.sendAndConfirm(.note(1))
                try await cluster.until("there are two notes") { $0.notes.count == 2 }
            }
        }
        #expect(
            error?.description.hasPrefix("after 0.2 seconds this is not so: there are two notes; the last was ") == true
        )
    }

    @Test func `says that the loop has ended`() async throws {
        let error = await #expect(throws: LocalClusterError.self) {
            try await LocalCluster.run(Notes()) { cluster in
                try await cluster.send(.end)
                try await cluster.until("there are two notes") { $0.notes.count == 2 }
            }
        }
        #expect(error?.description.hasPrefix("the loop has ended, and this is not so: there are two notes") == true)
    }

    @Test func `ends every wait where a node fails`() async throws {
        let folder = TestFolder()
        folder.write("journal", "this is no journal")
        await #expect(throws: NodeError.self) {
            try await LocalCluster.run(Notes(), journal: .file("\(folder.path)/journal")) { cluster in
                try await cluster.until { !$0.notes.isEmpty }
            }
        }
    }

    @Test func `has one reducer at a time`() async throws {
        try await LocalCluster.run(Notes()) { cluster in
            let error = await #expect(throws: LocalClusterError.self) { try await cluster.startReducer() }
            #expect(error?.description.contains("runs") == true)
            try await cluster.killReducer()
            let none = await #expect(throws: LocalClusterError.self) { try await cluster.killReducer() }
            #expect(none?.description.contains("no reducer") == true)
        }
    }
}
