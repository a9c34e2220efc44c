import LoopCluster
import LoopCore
import LoopNode
import LoopNodeTesting
import LoopWire
import TestFolders
import Testing

/// What is killed says nothing, and nothing that was promised is lost.
@Suite(.timeLimit(.minutes(5))) struct `A node that is killed` {
    @Test func `is a worker that loses its lease by its silence, and its effects run elsewhere`() async throws {
        let hung = Hung()
        try await LocalCluster.run(Notes(), workers: 0) { cluster in
            let first = try cluster.worker("first", running: Notes(square: hung.square))
            for number in 1...4 { try await cluster.sendAndConfirm(.want(number)) }
            try await cluster.untilStatus { $0.feedbacks[0].running == 4 }
            await first.kill()
            // It has not handed anything back: its lease must run out.
            let report = try await cluster.status()
            #expect(report.peers.first { $0.name == "first" }?.leases == 4)
            await #expect(throws: NodeKilled.self) { try await first.end }
            try cluster.worker("second")
            let (_, state) = try await cluster.until { $0.wanted.isEmpty }
            #expect(state.squares == [1: 1, 2: 4, 3: 9, 4: 16])
            let page = try await cluster.ask(.history(from: 1, through: nil, after: nil), \.history)
            let ends = page.records.filter { $0.kind == "attempt ended" }
            #expect(ends.count == 4)
            #expect(ends.allSatisfy { $0.note?.contains("unresponsive") == true }, "\(ends)")
        }
    }

    @Test func `is a worker whose bodies can send nothing more`() async throws {
        let stubborn = Notes(square: { number in
            do {
                try await Task.sleep(for: .seconds(86_400))
            } catch {}
            return number
        })
        try await LocalCluster.run(Notes(), workers: 0) { cluster in
            let first = try cluster.worker("first", running: stubborn)
            try await cluster.sendAndConfirm(.want(5))
            try await cluster.untilStatus { $0.feedbacks[0].running == 1 }
            await first.kill()
            try cluster.worker("second")
            // Not 5, which the first would have sent.
            #expect(try await cluster.until { $0.wanted.isEmpty }.state.squares == [5: 25])
        }
    }

    @Test(arguments: [true, false])
    func `is a reducer that goes on from its journal: senders send again, and nothing is there twice`(
        isFile: Bool
    ) async throws {
        let folder = TestFolder()
        let journal = isFile ? LocalJournal.file("\(folder.path)/notes.journal") : .memory
        try await LocalCluster.run(Notes(), journal: journal) { cluster in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for note in 0..<300 { try await cluster.send(.note(note)) }
                    try await cluster.sendAndConfirm(.note(300))
                }
                for round in 1...5 {
                    try await cluster.until { $0.notes.count >= round * 20 }
                    try await cluster.killReducer()
                    try await cluster.startReducer()
                }
                try await group.waitForAll()
            }
            let (seq, state) = try await cluster.until { $0.notes.count >= 301 }
            #expect(state.notes == Array(0...300))
            #expect(seq == Seq(301))
            #expect(try await cluster.status().epoch == 6)
            #expect(try await cluster.ask(.verify, \.verified).difference == nil)
        }
    }

    @Test func `is a reducer that is back before its silence is noticed`() async throws {
        try await LocalCluster.run(Notes(), silenceLimit: .seconds(60), waitLimit: .seconds(15)) { cluster in
            for note in 0..<5 {
                try await cluster.send(.note(note))
                try await cluster.until { $0.notes.count > note }
                try await cluster.killReducer()
                try await cluster.startReducer()
            }
            try await cluster.send(.want(3))
            #expect(try await cluster.until { !$0.squares.isEmpty }.state.notes == Array(0..<5))
        }
    }

    @Test func `is a reducer whose workers keep their effects`() async throws {
        let hung = Hung()
        try await LocalCluster.run(Notes(square: hung.square), silenceLimit: .seconds(5)) { cluster in
            for number in 1...4 { try await cluster.sendAndConfirm(.want(number)) }
            try await cluster.untilStatus { $0.feedbacks[0].running == 4 }
            try await cluster.killReducer()
            try await cluster.startReducer()
            try await cluster.untilStatus { $0.epoch == 2 && $0.feedbacks[0].running == 4 }
            #expect(hung.arrived == 4)
            #expect(hung.cancelled == 0)
        }
    }

    @Test func `is a reducer whose own effects run again after it`() async throws {
        let hung = Hung()
        try await LocalCluster.run(Notes(placement: .local, square: hung.square), workers: 0) { cluster in
            try await cluster.sendAndConfirm(.want(3))
            try await cluster.untilStatus { $0.feedbacks[0].running == 1 }
            try await cluster.killReducer()
            try await cluster.startReducer(Notes(placement: .local))
            #expect(try await cluster.until { $0.wanted.isEmpty }.state.squares == [3: 9])
        }
        #expect(hung.arrived <= 1)
    }

    @Test func `is a reducer that loses what it had not written yet`() async throws {
        let folder = TestFolder()
        let path = "\(folder.path)/notes.journal"
        try await LocalCluster.run(Notes(), journal: .file(path)) { cluster in
            for note in 0..<3 { try await cluster.sendAndConfirm(.note(note)) }
            try await cluster.killReducer()
            // Written, and no snapshot made: a stop makes one.
            #expect(try Self.snapshots(of: path) == 0)
            try await cluster.startReducer()
            try await cluster.stopReducer()
            #expect(try Self.snapshots(of: path) == 1)
        }
    }

    private static func snapshots(of path: String) throws -> Int {
        var journal = try JournalPlace.file(path).read?("notes") { _ in }
        defer { journal?.close() }
        return try journal?.snapshots().count ?? -1
    }

    @Test func `is a sender whose outbox is there for the next`() async throws {
        let folder = TestFolder()
        let outbox = "\(folder.path)/outbox"
        try await LocalCluster.run(Notes(), workers: 0) { cluster in
            let first = try cluster.remote("first", outbox: outbox)
            try await first.sendAndConfirm(.note(0))
            try await cluster.killReducer()
            for note in 1...3 { try await first.send(.note(note)) }
            await cluster.kill(first)
            let refusal = await #expect(throws: SendRefusal.self) { try await first.send(.note(99)) }
            #expect(refusal?.description == "refused: the loop has ended (the node was killed)")
            try await cluster.startReducer()
            let second = try cluster.remote("second", outbox: outbox)
            #expect(try await second.recoveredEvents().count >= 3)
            #expect(try await cluster.until { $0.notes.count == 4 }.state.notes == [0, 1, 2, 3])
        }
    }
}
