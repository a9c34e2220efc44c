import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A standby that follows the journal` {
    private let rows = FollowedRows()
    private var bench: ReducerBench
    private let sender: SessionID
    private var sent: UInt64 = 0
    private var follower = JournalFollower(Lamps(), coder: CBORCoder())
    private var appended = 0

    init() throws {
        bench = try ReducerBench()
        sender = bench.join(client, capacity: 0)
        appendNews()
    }

    /// What the leader has written since, as one row.
    private mutating func appendNews(salt: UInt32 = 1) {
        rows.append(Array(bench.records[appended...]), salt: salt)
        appended = bench.records.count
    }

    /// The leader applies events, each in a row of its own.
    private mutating func lead(_ names: String..., salt: UInt32 = 1) throws {
        for name in names {
            sent += 1
            _ = try bench.send(sender, from: sent, .light(name, 1))
            appendNews(salt: salt)
        }
    }

    private mutating func look() throws -> JournalFollower<Lamps>.Look { try follower.look(at: rows, bytesMax: 1) }

    /// Looks at a journal that does not continue what was followed.
    private mutating func loss() throws -> String? {
        guard case .lost(let reason) = try look() else {
            Issue.record("it went on")
            return nil
        }
        return reason
    }

    /// Follows as long as there is something.
    private mutating func catchUp() throws {
        while try look() != .level {}
    }

    private func recover(_ warm: WarmState?) throws -> Recovery {
        try Recovery(Lamps(), from: rows, coder: CBORCoder(), warm: warm)
    }

    /// What a process that has followed so far, and leads with the journal as it is, says to be gone: between two fixed texts.
    private func vanished(_ followed: FollowedEnd?) throws -> String? {
        let core = try recover(nil).journaled
        let text = try VanishedRecords(
            try #require(followed), in: rows, seq: core.seq, history: core.history,
            at: Moment(monotonic: .zero, wall: WallTime(milliseconds: 0)))?.description
        return text?.split(separator: ": ").last?.split(separator: ". ").first.map(String.init)
    }

    @Test mutating func `applies row by row what the leader appends, and knows how far it is behind`() throws {
        #expect(follower.applied == nil)
        #expect(try look() == .begun(at: .initial))
        #expect(try look() == .level)
        try lead("a", "b")
        #expect(try look() == .behind)
        #expect(follower.applied?.seq == Seq(1))
        #expect(follower.lag == rows.position - (follower.applied?.position ?? 0))
        #expect(try look() == .level)
        #expect(follower.applied?.seq == Seq(2) && follower.lag == 0)
        #expect(try look() == .level)
    }

    @Test mutating func `hands over a state from which only the tail is read, and which is the leader's`() throws {
        try lead("a", "b")
        try catchUp()
        try lead("c")
        let tail = UInt64(bench.records.count) - (follower.applied?.position ?? 0)
        let warm = follower.handOver()
        #expect(warm?.seq == Seq(2) && follower.applied == nil)
        let before = rows.readCount
        let recovery = try recover(warm)
        #expect(recovery.warmSeq == Seq(2) && recovery.recordsCount == tail && recovery.notes == [])
        #expect(UInt64(rows.readCount - before) == tail)
        #expect(recovery.journaled.digest() == bench.machine.journaled.digest())
        #expect(recovery.journaled.position == bench.machine.journaled.position)
    }

    @Test mutating func `begins again from a snapshot when a failover took back the row on which it stood`() throws {
        try lead("a")
        try catchUp()
        let before = bench
        let count = appended
        try lead("b")
        try catchUp()
        #expect(follower.applied?.seq == Seq(2))
        // Another leader goes on where the lost row was.
        rows.lose(1)
        (bench, appended, sent) = (before, count, 1)
        try lead("other", salt: 2)
        let position = follower.applied?.position ?? 0
        guard case .lost(let reason) = try look() else {
            Issue.record("it went on")
            return
        }
        #expect(
            reason.hasPrefix(
                "the journal does not have record \(position), seq 2, as it was followed: it is another one, or a failover"
            ))
        #expect(follower.applied == nil)
        try catchUp()
        #expect(
            try vanished(follower.lost) == "record \(position), at seq 2, in whose place is another one")
        #expect(try recover(follower.handOver()).journaled.digest() == bench.machine.journaled.digest())
    }

    @Test mutating func `does not take a journal for trimmed that has lost all that was followed`() throws {
        #expect(try look() == .begun(at: .initial))
        #expect(try look() == .level)
        let position = follower.applied?.position ?? 0
        rows.lose(1)
        appended = 0
        try lead("other", salt: 2)
        let prefix = "the journal does not have record \(position), seq 0, as it was followed"
        #expect(try loss()?.hasPrefix(prefix) == true)
    }

    @Test mutating func `says that a trimmed journal without later events was trimmed`() throws {
        try lead("a")
        try catchUp()
        try lead("b")
        let position = follower.applied?.position ?? 0
        let fingerprint = DefinitionFingerprint(of: Lamps()).value
        rows.trim(3, keeping: try bench.machine.journaled.snapshot(), seq: Seq(2), fingerprint: fingerprint)
        #expect(try loss() == "the journal was trimmed beyond record \(position)")
        #expect(try vanished(follower.lost) == nil)
    }

    @Test mutating func `names no snapshot that was refused when the first events are trimmed`() throws {
        try lead("a", "b")
        rows.trim(3, keeping: [0], seq: Seq(2), fingerprint: DefinitionFingerprint(of: Lamps()).value)
        #expect(#expect(throws: RecoveryError.self) { try recover(nil) }?.description.contains("seq 2 cannot") == true)
    }

    @Test mutating func `begins again when the journal ends before the row on which it stood`() throws {
        try lead("a", "b")
        try catchUp()
        rows.lose(1)
        guard case .lost = try look() else {
            Issue.record("it went on")
            return
        }
        #expect(try look() == .begun(at: .initial))
        #expect(try vanished(follower.lost) == "event 2")
        rows.lose(1)
        #expect(try vanished(follower.lost) == "events 1 to 2")
    }

    @Test mutating func `that leads names what it has followed and is gone, for an hour`() throws {
        try lead("a", "b")
        let count = rows.position
        rows.append((1...2).map { .sessionOpened(SessionID(sender.value + $0), PeerID(high: 9, low: $0)) })
        try catchUp()
        let warm = try #require(follower.warm)
        #expect(try vanished(warm.followed) == nil)
        rows.lose(1)
        #expect(try vanished(warm.followed) == "records \(count + 1) to \(count + 2)")
        rows.lose(1)
        let core = bench.machine.journaled
        let gone = try #require(
            try VanishedRecords(
                warm.followed, in: rows, seq: Seq(1), history: core.history, at: ReducerBench.moment(bench.time)))
        var facts = ShellFacts()
        facts.vanished = gone
        bench.turn { $0.notice(facts) }
        #expect(bench.machine.status().warnings.contains(gone.description))
        #expect(gone.description.contains(": event 2. The journal lacked them"))
        bench.turn(after: 3_599_000)
        #expect(bench.machine.status().warnings.contains(gone.description))
        bench.turn(after: 2000)
        #expect(!bench.machine.status().warnings.contains(gone.description))
        // A new history goes on without what is gone.
        #expect(
            try VanishedRecords(
                warm.followed, in: rows, seq: Seq(1), history: History(9), at: ReducerBench.moment(bench.time)) == nil)
    }

    @Test mutating func `keeps what it has when only a source that is behind the leader lacks it`() throws {
        try lead("a", "b")
        try catchUp()
        let position = rows.position
        rows.lose(1)
        var askedCount = 0
        let error = #expect(throws: JournalError.self) {
            try follower.look(
                at: rows, bytesMax: 1,
                isCurrent: {
                    askedCount += 1
                    return false
                })
        }
        #expect(error?.kind == .unreachable && error?.reason.contains("record \(position)") == true)
        #expect(askedCount == 1 && rows.position < position && follower.lost == nil)
        #expect(follower.applied?.seq == Seq(2) && follower.applied?.position == position)
        guard case .lost = try look() else {
            Issue.record("it went on")
            return
        }
    }

    @Test mutating func `begins with the snapshot when the row on which it stood was trimmed`() throws {
        try lead("a")
        try catchUp()
        try lead("b", "c")
        let core = bench.machine.journaled
        let snapshot = try core.snapshot()
        let position = follower.applied?.position ?? 0
        rows.trim(4, keeping: snapshot, seq: Seq(3), fingerprint: DefinitionFingerprint(of: Lamps()).value)
        try lead("d")
        #expect(try loss() == "the journal was trimmed beyond record \(position)")
        #expect(try look() == .begun(at: Seq(3)))
        try catchUp()
        #expect(try recover(follower.handOver()).journaled.digest() == bench.machine.journaled.digest())
    }

    @Test mutating func `begins again with the journal of another run`() throws {
        try lead("a")
        try catchUp()
        let warm = follower.handOver()
        follower = JournalFollower(Lamps(), coder: CBORCoder(), from: warm)
        rows.beginAgain()
        #expect(try loss() == "the journal is another one: its history is \(rows.history)")
        #expect(try vanished(follower.lost) == nil)
        // Nor is what it had taken for a state of that one.
        let recovery = try recover(warm)
        #expect(recovery.warmSeq == nil && recovery.journaled.seq == .initial)
        #expect(recovery.notes == ["the warm state at seq 1 cannot be used: the journal is of another history"])
    }

    @Test mutating func `is compared at the takeover, and recovers from the start if its row is not there`() throws {
        try lead("a")
        try catchUp()
        let before = bench
        let count = appended
        try lead("b")
        try catchUp()
        let warm = follower.handOver()
        let position = warm?.end.position ?? 0
        rows.lose(1)
        (bench, appended, sent) = (before, count, 1)
        try lead("other", salt: 2)
        let recovery = try recover(warm)
        #expect(recovery.warmSeq == nil)
        #expect(
            recovery.notes == [
                "the warm state at seq 2 cannot be used: the journal does not have record \(position) as it was followed"
            ])
        #expect(recovery.journaled.digest() == bench.machine.journaled.digest())
    }

    @Test mutating func `stops at events of another definition, and what it has is none`() throws {
        try lead("a")
        try catchUp()
        let facts = bench.machine.journaled.ownDefinition
        rows.append([
            .definition(
                DefinitionRecord(
                    fingerprint: facts.fingerprint ^ 1, schema: facts.schema, initial: facts.initial,
                    feedbacks: facts.feedbacks))
        ])
        #expect(try look() == .level)
        try lead("b")
        guard case .stopped(let reason) = try look() else {
            Issue.record("it went on")
            return
        }
        #expect(reason.hasPrefix("event 2 was applied by another definition than this one"))
        #expect(follower.applied == nil && follower.handOver() == nil)
        guard case .stopped = try look() else {
            Issue.record("it went on")
            return
        }
    }

    @Test mutating func `stops at a state hash that differs`() throws {
        try lead("a")
        try catchUp()
        rows.append([.stateHash(Seq(1), 0xbad)])
        guard case .stopped(let reason) = try look() else {
            Issue.record("it went on")
            return
        }
        #expect(reason.contains("the replay differs from the journal at seq 1"))
        #expect(follower.handOver() == nil)
    }

    @Test mutating func `keeps what it has while the journal cannot be read`() throws {
        try lead("a")
        try catchUp()
        rows.failure = .unreachable
        #expect(throws: JournalError.self) { try follower.look(at: rows, bytesMax: 1) }
        #expect(follower.applied?.seq == Seq(1))
        rows.failure = nil
        try lead("b")
        try catchUp()
        #expect(follower.applied?.seq == Seq(2))
    }

    @Test mutating func `goes on from the state of a machine that has led`() throws {
        try lead("a", "b")
        let warm = WarmState(of: bench.machine.journaled, at: rows)
        #expect(warm?.seq == Seq(2))
        follower = JournalFollower(Lamps(), coder: CBORCoder(), from: warm)
        #expect(try look() == .level)
        try lead("c")
        #expect(try look() == .level)
        #expect(try recover(follower.handOver()).journaled.digest() == bench.machine.journaled.digest())
        // One that has written what the journal does not have is none.
        rows.lose(1)
        #expect(WarmState(of: bench.machine.journaled, at: rows) == nil)
    }

    // MARK: A state that is ahead

    /// A machine whose journal has failed: "a" has a receipt, and four more events have none.
    private mutating func fail() throws -> (warm: WarmState, rows: [[Record]]) {
        try lead("a")
        var batches: [[Record]] = []
        for name in ["b", "c", "d", "e"] {
            sent += 1
            _ = try bench.send(sender, from: sent, .light(name, 1))
            batches.append(Array(bench.records[(appended + batches.joined().count)...]))
        }
        let warm = try #require(WarmState(of: bench.machine.journaled, at: rows, ahead: batches.flatMap { $0 }))
        #expect(warm.ahead.count == batches.joined().count && warm.seq == Seq(5))
        return (warm, batches)
    }

    @Test(arguments: 0...4)
    mutating func `is gone on from when its journal has failed, however much of what was on its way is there`(
        _ landed: Int
    ) throws {
        let (warm, batches) = try fail()
        for batch in batches.prefix(landed) { rows.append(batch) }
        let recovery = try recover(warm)
        #expect(recovery.warmSeq == Seq(5) && recovery.recordsCount == 0 && recovery.notes == [])
        #expect(recovery.lacking == batches.dropFirst(landed).flatMap { $0 })
        #expect(recovery.journaled.digest() == bench.machine.journaled.digest())
        // What it lacked is appended in one row: then the journal says the same.
        if !recovery.lacking.isEmpty { rows.append(recovery.lacking) }
        #expect(try recover(nil).journaled.digest() == recovery.journaled.digest())
    }

    @Test(arguments: 0...4)
    mutating func `is followed further when its journal has failed`(_ landed: Int) throws {
        let (warm, batches) = try fail()
        follower = JournalFollower(Lamps(), coder: CBORCoder(), from: warm)
        #expect(follower.applied?.seq == Seq(1))
        #expect(try look() == .level)
        for batch in batches.prefix(landed) { rows.append(batch) }
        try catchUp()
        #expect(follower.applied?.seq == Seq(UInt64(1 + landed)) && follower.lag == 0)
        let last = follower.handOver()
        let handed = try #require(last)
        #expect(handed.ahead == batches.dropFirst(landed).flatMap { $0 })
        #expect(try recover(handed).lacking == handed.ahead)
        // Another process led meanwhile, behind all of it.
        follower = JournalFollower(Lamps(), coder: CBORCoder(), from: warm)
        for batch in batches.dropFirst(landed) { rows.append(batch) }
        appended = bench.records.count
        try lead("f")
        try catchUp()
        #expect(follower.applied?.seq == Seq(6))
        #expect(try recover(follower.handOver()).journaled.digest() == bench.machine.journaled.digest())
    }

    @Test mutating func `is of no use when another process has appended something else`() throws {
        let (warm, batches) = try fail()
        follower = JournalFollower(Lamps(), coder: CBORCoder(), from: warm)
        rows.append(batches[0])
        rows.append(
            batches[2].map { record in
                guard case .event(var event) = record else { return record }
                event.seq = Seq(3)
                return .event(event)
            })
        let recovery = try recover(warm)
        #expect(recovery.warmSeq == nil && recovery.lacking == [] && recovery.journaled.seq == Seq(3))
        #expect(
            recovery.notes.first?.hasPrefix("the warm state at seq 5 cannot be used: the journal has other") == true)
        #expect(try look() == .behind)
        let position = follower.applied?.position ?? 0
        #expect(
            try loss()
                == "another process has written behind record \(position): the followed records without a receipt are dropped"
        )
        try catchUp()
        #expect(follower.applied?.seq == Seq(3))
    }
}
