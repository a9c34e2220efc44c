import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `G8 a snapshot` {
    private func restored(_ document: [UInt8]) throws(SnapshotError) -> JournaledState {
        try JournaledState(restoring: document, definition: Garden(), coder: CBORCoder())
    }

    private func gardener(seed: UInt64, steps: Int = 150) throws -> Gardener {
        var gardener = try Gardener(seed: seed)
        for _ in 0..<steps { try gardener.step() }
        return gardener
    }

    @Test(arguments: 0..<UInt64(20))
    func `goes on byte for byte like a state that replayed everything`(seed: UInt64) throws {
        var gardener = try gardener(seed: seed)
        var restored = try restored(try gardener.core.snapshot())
        for step in 0..<150 {
            let count = gardener.records.count
            try gardener.step()
            for record in gardener.records[count...] { try restored.apply(record) }
            #expect(restored.digest() == gardener.core.digest())
            guard step.isMultiple(of: 10) else { continue }
            let document = try gardener.core.snapshot()
            try #require(try restored.differences(from: gardener.core) == [])
            try #require(try restored.snapshot() == document)
            restored = try self.restored(document)
        }
        var replayed = JournaledState(definition: Garden(), coder: CBORCoder(), history: History(seed | 1))
        for record in gardener.records { try replayed.apply(record) }
        #expect(try replayed.snapshot() == gardener.core.snapshot())
        #expect(replayed.position == UInt64(gardener.records.count))
    }

    @Test func `is the same where senders have confirmed their outcomes, but for these`() throws {
        let gardener = try gardener(seed: 3)
        var forgetful = gardener.core
        for session in forgetful.sessions.keys { forgetful.forgetOutcomes(of: session, upTo: .max) }
        #expect(forgetful.sessions != gardener.core.sessions)
        #expect(try forgetful.differences(from: gardener.core) == [])
        #expect(forgetful.digest() == gardener.core.digest())
    }

    @Test func `names the parts in which two states differ`() throws {
        var gardener = try gardener(seed: 4)
        let before = gardener.core
        let effect = try #require(before.effects.keys.sorted().first { before.effects[$0]?.status == .open })
        try gardener.write(
            .completed(SessionID(400), number: 1, effect, Attempt(epoch: 1, count: 1)))
        #expect(try gardener.core.differences(from: before) == ["effects"])
        try gardener.write(.epochBegun(Epoch(number: 99, nonce: 1), before.time))
        #expect(try gardener.core.differences(from: before) == ["effects", "idle times of sessions", "epochs"])
        #expect(gardener.core.digest() != before.digest())
    }

    @Test func `is taken of a copy while the loop goes on`() async throws {
        var gardener = try gardener(seed: 5)
        let copy = gardener.core
        let expected = try copy.snapshot()
        let document = Task.detached { try copy.snapshot() }
        for _ in 0..<50 { try gardener.step() }
        #expect(try await document.value == expected)
    }

    @Test func `is refused wherever a byte is missing or another`() throws {
        let document = try gardener(seed: 6, steps: 40).core.snapshot()
        for end in stride(from: 0, to: document.count, by: 7) {
            #expect(throws: SnapshotError.self) { try restored(Array(document[..<end])) }
        }
        for position in stride(from: 0, to: document.count, by: 5) {
            var damaged = document
            damaged[position] ^= 1 << (position % 8)
            #expect(throws: SnapshotError.self) { try restored(damaged) }
        }
    }

    @Test(arguments: 0..<UInt64(30))
    func `never traps on a body whose checksum is right`(seed: UInt64) throws {
        let document = try gardener(seed: seed, steps: 20).core.snapshot()
        var random = SeededRandom(seed: seed)
        var refused = 0
        for _ in 0..<200 {
            var damaged = document
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 8..<document.count - 8, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            damaged.removeLast(8)
            if Bool.random(using: &random) { damaged.removeLast(Int.random(in: 0..<damaged.count - 8, using: &random)) }
            var end = ByteWriter()
            end.u64(StableHash.fnv1a(damaged))
            damaged += end.bytes
            do {
                // What is let in can be used: it is a state, though not one that was written.
                var state = try restored(damaged)
                _ = try? state.apply(.definition(state.ownDefinition))
                _ = try? state.apply(event(.sleep, at: state.seq))
                _ = state.digest()
            } catch {
                refused += 1
            }
        }
        #expect(refused > 20)
    }

    private func event(_ event: Garden.Event, at seq: Seq) throws -> Record {
        .event(
            EventRecord(
                seq: Seq(seq.value &+ 1), time: WallTime(milliseconds: 1), session: SessionID(1), number: 1,
                effect: nil,
                attempt: .none, wantsSeq: false, bytes: try CBORCoder().encode(event)[...]))
    }

    @Test func `says what is wrong with it`() throws {
        let document = try gardener(seed: 7).core.snapshot()
        #expect(
            message { try restored([1, 2, 3]) } == "the snapshot is damaged: it does not begin as a snapshot does")
        #expect(
            message { try restored(Array(document.dropLast())) } == "the snapshot is damaged: its checksum differs")
        #expect(
            message {
                try JournaledState(restoring: document, definition: Lamps(), coder: CBORCoder())
            } == "the snapshot is of the loop \"garden\", this is \"lamps\"")
        func ofFormat(_ format: UInt8) -> [UInt8] {
            var other = Array(document.dropLast(8))
            other[8] = format
            var end = ByteWriter()
            end.u64(StableHash.fnv1a(other))
            return other + end.bytes
        }
        #expect(
            message { try restored(ofFormat(8)) }
                == "the snapshot is of format 8, this release reads formats up to 7; start a newer release")
        #expect(
            message { try restored(ofFormat(4)) }
                == "the snapshot is damaged: its format is 4, which no release has written")
        let unborn = JournaledState(definition: Garden(), coder: CBORCoder(), history: History(1))
        #expect(
            message { try unborn.snapshot() }
                == "a snapshot cannot be made before this definition has taken over; begin an epoch first")
    }
}

@Suite struct `A copied journal` {
    @Test func `is known by the epochs that a peer has seen`() throws {
        var gardener = try Gardener(seed: 1)
        for number in 2...80 {
            try gardener.write(
                .epochBegun(Epoch(number: UInt64(number), nonce: UInt64(number) * 3), WallTime(milliseconds: 6)))
        }
        let core = try JournaledState(
            restoring: try gardener.core.snapshot(), definition: Garden(), coder: CBORCoder())
        #expect(core.epochs.count == 64)
        #expect(core.knows(Epoch(number: 80, nonce: 240)))
        #expect(core.knows(Epoch(number: 17, nonce: 51)))
        #expect(core.knows(.none))
        #expect(!core.knows(Epoch(number: 80, nonce: 241)))
        #expect(!core.knows(Epoch(number: 17, nonce: 52)))
        #expect(!core.knows(Epoch(number: 81, nonce: 243)))
        // Too old to be told apart.
        #expect(core.knows(Epoch(number: 16, nonce: 1)))
    }
}
