import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing
import ZMQ

/// A reducer over a journal that outlives it.
private struct Restartable {
    let context: ZMQContext
    let address: ReducerAddress
    let disk: TestDisk

    init(isFollowed: Bool = false) throws {
        disk = TestDisk(isFollowed: isFollowed)
        context = try ZMQContext()
        address = ipcAddress()
    }

    func reducer(
        _ jobs: Jobs, _ change: (inout ReducerNodeConfiguration) -> Void = { _ in }
    ) throws -> ReducerNode<Jobs> {
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.journal = disk.place
        configuration.machine.silenceLimit = .seconds(2)
        change(&configuration)
        return try ReducerNode(jobs, configuration: configuration)
    }

    func remote() throws -> RemoteLoop<Jobs> {
        try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
    }

    func status(where isWanted: (StatusReport) -> Bool) async throws -> StatusReport {
        let (address, context) = (address, context)
        while true {
            let report = try await NodeThread.run("probe") {
                try StatusProbe.ask(address, within: .seconds(240), context: context)
            }
            if isWanted(report) { return report }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// A journal whose records cannot be read.
private final class UnreadableDiskJournal: ComparedDiskJournal {
    override func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        throw JournalError(.unreachable, operation: "be read", reason: "the test says so", remedy: "wait")
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A reducer goes on from its journal` {
    @Test func `and warns of records that it had followed, even if its first try to lead fails`() async throws {
        let nodes = try Restartable()
        let first = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await first.run() }
        let remote = try nodes.remote()
        for number in 1...3 { try await remote.sendAndConfirm(.note("\(number)")) }
        await remote.close()
        first.stop()
        _ = try await life.value
        nodes.disk.content.withLock { $0.snapshots = [] }

        let (disk, mayLead, triesCount) = (nodes.disk, Monitor(false), Locked(0))
        let standby = try nodes.reducer(Jobs(ends: false)) { configuration in
            configuration.succession = .standby
            configuration.journal = JournalPlace(
                path: { _ in nil },
                open: { opening throws(JournalError) in
                    repeat {
                        _ = opening.whileWaiting?(JournalOwner())
                    } while !opening.isStopping() && !mayLead.wait(until: { $0 }, timeout: .milliseconds(20))
                    let isFirst = triesCount.withLock { count in
                        count += 1
                        return count == 1
                    }
                    return isFirst ? UnreadableDiskJournal(disk: disk) : ComparedDiskJournal(disk: disk)
                },
                read: { _, _ throws(JournalError) in ComparedDiskJournal(disk: disk) })
        }
        let again = Task { try await standby.run() }
        _ = try await nodes.status { $0.isStandby && $0.seq == 3 && $0.following?.lag == 0 }
        // As after a failover that has lost the newest event.
        disk.content.withLock { content in
            while let record = content.records.popLast() { if case .event = record { return } }
        }
        _ = try await nodes.status { $0.isStandby && $0.seq == 2 && $0.following?.lag == 0 }
        mayLead.withLock { $0 = true }
        mayLead.broadcast()
        let report = try await nodes.status { $0.isReady }
        #expect(triesCount.withLock { $0 } == 2)
        #expect(report.warnings.contains { $0.contains("RECORDS ARE GONE") && $0.contains(": event 3. The journal") })
        standby.stop()
        _ = try await again.value
    }

    @Test func `G3 G8 state and sessions are there after a restart, and nothing is applied twice`() async throws {
        let nodes = try Restartable()
        let first = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await first.run() }
        let remote = try nodes.remote()
        for number in 0..<20 { try await remote.sendAndConfirm(.note("\(number)")) }
        first.stop()
        _ = try await life.value
        let second = try nodes.reducer(Jobs(ends: false))
        let again = Task { try await second.run() }
        #expect(try await remote.sendAndConfirm(.note("20")).seq == Seq(21))
        for await (seq, state) in remote.states where seq == Seq(21) {
            #expect(state.notes == (0...20).map(String.init))
            break
        }
        await remote.close()
        second.stop()
        _ = try await again.value
        #expect(nodes.disk.content.withLock { $0.openCount } == 2)
    }

    @Test func `an effect that runs on a worker is adopted after the reducer's restart, and not started again`()
        async throws
    {
        let nodes = try Restartable()
        let door = Door()
        let jobs = Jobs(work: { job in
            try await door.pass()
            return job
        })
        let first = try nodes.reducer(jobs)
        let life = Task { try await first.run() }
        let worker = TestWorker(try EffectNode(jobs, configuration: .test(nodes.address, nodes.context, "one")))
        let remote = try nodes.remote()
        try await remote.sendAndConfirm(.add(5))
        _ = try await nodes.status { $0.feedbacks[0].running == 5 }
        first.stop()
        _ = try await life.value
        let second = try nodes.reducer(jobs)
        async let outcome = second.run()
        _ = try await nodes.status { $0.epoch == 2 && $0.feedbacks[0].running == 5 }
        #expect(door.arrivedCount == 5)
        door.open()
        #expect(try await outcome == Outcome(text: "sum 10"))
        #expect(door.arrivedCount == 5)
        _ = try await worker.end
        await remote.close()
        #expect(nodes.disk.content.withLock { $0.hasEnded })
    }

    /// A reducer that was replaced, and does not know it, is greeted by a peer that has been at its successor.
    @Test func `records are not called missing by a reducer that cannot prove that it leads`() async throws {
        let nodes = try Restartable()
        let first = try nodes.reducer(Jobs(ends: false)) { $0.durability = .os }
        let life = Task { try await first.run() }
        let remote = try nodes.remote()
        for number in 0..<20 { try await remote.sendAndConfirm(.note("\(number)")) }
        first.stop()
        _ = try await life.value
        nodes.disk.content.withLock { content in
            content.records.removeLast(5)
            content.snapshots = []
            content.hasOtherLeader = true
        }
        let kinds = Locked<[LogKind]>([])
        let second = try nodes.reducer(Jobs(ends: false)) { configuration in
            configuration.durability = .os
            configuration.log = LogHandler { event in kinds.withLock { $0.append(event.kind) } }
        }
        let again = Task { try await second.run() }
        let report = try await nodes.status { !$0.isReady }
        #expect(report.notReadyBecause?.contains("another reducer does") == true)
        #expect(!kinds.withLock { $0.contains(.historyBegun) })
        // It leads after all, and the records are missing indeed.
        nodes.disk.content.withLock { $0.hasOtherLeader = false }
        _ = try await nodes.status { $0.isReady && $0.epoch > 2 }
        while !kinds.withLock({ $0.contains(.historyBegun) }) { try await Task.sleep(for: .milliseconds(5)) }
        await remote.close()
        second.stop()
        _ = try await again.value
    }

    @Test
    func `a question for the present state is answered with why the journal cannot be used, and later with the state`()
        async throws
    {
        let nodes = try Restartable(isFollowed: true)
        let reducer = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await reducer.run() }
        let remote = try nodes.remote()
        try await remote.sendAndConfirm(.note("before"))
        nodes.disk.content.withLock { $0.failures = Array(repeating: .failedDisk, count: 1000) }
        let during = Task { try await remote.sendAndConfirm(.note("during")) }
        _ = try await nodes.status { !$0.isReady }
        // A question whose time is over before the reducer has answered says that alone.
        var text = ""
        while !text.contains("the test says so") {
            let error = await #expect(throws: NodeError.self) {
                try await remote.currentState(within: .seconds(1))
            }
            text = try #require(error).description
        }
        nodes.disk.fail()
        #expect(try await during.value.seq == Seq(2))
        #expect(try await remote.currentState(within: .seconds(60)).seq == Seq(2))
        await remote.close()
        reducer.stop()
        _ = try await life.value
    }

    @Test func `peers are told why while the journal has failed, stay, and go on when it is back`() async throws {
        let nodes = try Restartable()
        let first = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await first.run() }
        let known = try nodes.remote()
        try await known.sendAndConfirm(.note("before"))
        nodes.disk.content.withLock { $0.failures = Array(repeating: .full, count: 1000) }
        try await known.send(.note("kept"))
        _ = try await nodes.status { !$0.isReady }
        let reasons = Locked<[String]>([])
        let log = LogHandler { event in
            if event.kind == .keptWaiting { reasons.withLock { $0.append(event.text) } }
        }
        let late = try RemoteLoop(Jobs.self, reducer: nodes.address, context: nodes.context, log: log)
        while reasons.withLock({ !$0.contains { $0.contains("the test says so") } }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        let error = await #expect(throws: AdministrationError.self) {
            try await NodeThread.run("ask") {
                var call = try AdministrationCall(reducer: nodes.address, context: nodes.context)
                _ = try call.ask(.schedules, \.schedules, within: .seconds(20))
            }
        }
        #expect(error?.description.contains("the reducer is not ready") == true)
        nodes.disk.fail()
        try await late.sendAndConfirm(.note("after"))
        let (_, state) = try await late.currentState(within: .seconds(60))
        // The other one has met the failed turn.
        try await known.sendAndConfirm(.note("last"))
        let (_, all) = try await known.currentState(within: .seconds(60))
        #expect(state.notes.contains("after") && all.notes.filter { $0 != "after" } == ["before", "kept", "last"])
        await known.close()
        await late.close()
        first.stop()
        _ = try await life.value
    }

    @Test func `a peer of another protocol is refused while the journal has failed`() async throws {
        let nodes = try Restartable()
        let reducer = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await reducer.run() }
        let known = try nodes.remote()
        try await known.sendAndConfirm(.note("before"))
        nodes.disk.content.withLock { $0.failures = Array(repeating: .full, count: 1000) }
        try await known.send(.note("kept"))
        _ = try await nodes.status { !$0.isReady }
        let (endpoint, context) = (nodes.address.description, nodes.context)
        let answer = try await NodeThread.run("stranger") {
            var dealer = try Socket(.dealer, in: context)
            try dealer.connect(endpoint)
            var frame = ToReducer.statusRequest.bytes(loop: LoopID(value: 0))
            frame[1] = Wire.version + 1
            #expect(try dealer.send(frame) == .sent)
            var polls = PollSet()
            _ = polls.add(dealer)
            try polls.wait(milliseconds: 60_000)
            var message = Message()
            return try dealer.receive(into: &message) ? try PeerFrame(bytes: message.copy()[...]).message : nil
        }
        guard case .refused(let refused, _)? = answer else {
            Issue.record("the answer is \(String(describing: answer))")
            return
        }
        #expect(refused.description.contains("\(Wire.version + 1)"), "\(refused)")
        nodes.disk.fail()
        await known.close()
        reducer.stop()
        _ = try await life.value
    }

    @Test func `a worker that holds 40,000 effects comes back with all of them`() async throws {
        let nodes = try Restartable()
        let door = Door()
        let jobs = Jobs(
            ends: false,
            work: { job in
                try await door.pass()
                return job
            })
        let count = 40_000
        let first = try nodes.reducer(jobs) { $0.machine.silenceLimit = .seconds(30) }
        let life = Task { try await first.run() }
        var configuration = EffectNodeConfiguration.test(nodes.address, nodes.context, "one")
        configuration.capacity = count
        configuration.stopLimit = .zero
        let worker = TestWorker(try EffectNode(jobs, configuration: configuration))
        let remote = try nodes.remote()
        try await remote.sendAndConfirm(.add(count))
        _ = try await nodes.status { $0.feedbacks[0].running == count }
        first.stop()
        _ = try await life.value
        let second = try nodes.reducer(jobs) { $0.machine.silenceLimit = .seconds(30) }
        let again = Task { try await second.run() }
        // Its claim is larger than a message may be. Nothing is granted to it again.
        let report = try await nodes.status { $0.epoch == 2 && $0.feedbacks[0].running == count }
        #expect(report.peers.map(\.leases).max() == count)
        #expect(
            !nodes.disk.content.withLock { $0.records.contains { if case .attemptEnded = $0 { true } else { false } } })
        await remote.close()
        second.stop()
        _ = try await again.value
        _ = try await worker.stop()
    }

    @Test func `a clean stop leaves a snapshot, from which the next start goes on without replaying`() async throws {
        let nodes = try Restartable()
        let lines = Locked<[String]>([])
        let log = LogCollector()
        let first = try nodes.reducer(Jobs(ends: false)) { $0.log = log.handler }
        let life = Task { try await first.run() }
        let remote = try nodes.remote()
        for number in 0..<3 { try await remote.sendAndConfirm(.note("\(number)")) }
        first.stop()
        _ = try await life.value
        let snapshots = nodes.disk.content.withLock { $0.snapshots.map(\.entry) }
        #expect(snapshots.map(\.seq) == [Seq(3)])
        #expect(log.events.map(\.kind) == [.listening, .joined, .snapshot])
        let fields = log.events.last?.fields ?? []
        #expect(
            fields.dropLast() == [
                .position(snapshots[0].position), .seq(Seq(3)), .bytes(snapshots[0].byteCount),
            ])
        // The records before the snapshot are not looked at any more.
        nodes.disk.content.withLock { content in
            for position in content.records.indices { content.records[position] = .sessionRetired(SessionID(99)) }
        }
        let second = try nodes.reducer(Jobs(ends: false)) { configuration in
            configuration.log = .lines { line in lines.withLock { $0.append(line) } }
        }
        let again = Task { try await second.run() }
        #expect(try await remote.sendAndConfirm(.note("3")).seq == Seq(4))
        #expect(
            lines.withLock { $0 }.contains { $0.contains("recovered seq 3 from a snapshot at seq 3 and 0 records") })
        await remote.close()
        second.stop()
        _ = try await again.value
    }

    @Test func `snapshots are made while the loop goes on`() async throws {
        let nodes = try Restartable()
        let reducer = try nodes.reducer(Jobs(ends: false)) { $0.snapshotInterval = 50 }
        let life = Task { try await reducer.run() }
        let remote = try nodes.remote()
        var number = 0
        while nodes.disk.content.withLock({ $0.snapshots.count }) < 3 {
            try await remote.sendAndConfirm(.note("\(number)"))
            number += 1
        }
        await remote.close()
        reducer.stop()
        _ = try await life.value
        let positions = nodes.disk.content.withLock { $0.snapshots.map(\.entry.position) }
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $1 >= $0 + 50 || $1 == positions.last })
    }
}

@Suite(.timeLimit(.minutes(5))) struct `G7 a journal that fails` {
    @Test(arguments: [JournalError.Kind.full, .readOnly, .failedDisk])
    func `stops the reducer's acknowledgements, is shown by status, and costs no replay`(
        _ kind: JournalError.Kind
    ) async throws {
        let nodes = try Restartable(isFollowed: true)
        let log = LogCollector()
        let reducer = try nodes.reducer(Jobs(ends: false)) { $0.log = log.handler }
        let life = Task { try await reducer.run() }
        let remote = try nodes.remote()
        #expect(try await remote.sendAndConfirm(.note("before")).seq == Seq(1))
        // It fails until status has said so.
        nodes.disk.content.withLock { $0.failures = Array(repeating: kind, count: 1000) }
        let during = Task { try await remote.sendAndConfirm(.note("during")) }
        let report = try await nodes.status { !$0.isReady }
        #expect(report.notReadyBecause?.contains("the test says so") == true)
        nodes.disk.fail(kind)
        // Acknowledged only once it is in the reopened journal.
        #expect(try await during.value.seq == Seq(2))
        _ = try await nodes.status { $0.isReady && $0.seq == 2 }
        await remote.close()
        reducer.stop()
        _ = try await life.value
        let applied = nodes.disk.content.withLock { content in
            content.records.count { if case .event = $0 { true } else { false } }
        }
        #expect(applied == 2)
        #expect(nodes.disk.content.withLock { $0.openCount } >= 3)
        // The first try appends the event that had no receipt, and fails.
        let recovered = log.events.filter { $0.kind == .recovered }.map(\.text)
        #expect(recovered.count == 1)
        #expect(
            recovered.first?.contains("recovered seq 2 from a warm state at seq 2 and 0 records, and appended ")
                == true,
            "\(recovered)")
    }

    @Test func `that is corrupt ends the reducer with what to do`() async throws {
        let nodes = try Restartable()
        let reducer = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await reducer.run() }
        let remote = try nodes.remote()
        #expect(try await remote.sendAndConfirm(.note("before")).seq == Seq(1))
        nodes.disk.fail(.corrupt)
        try await remote.send(.note("during"))
        await #expect(throws: NodeError.self) { try await life.value }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `G9 a read through the reducer` {
    @Test func `is of the reducer's history, however far this follower had come in another`() async throws {
        let nodes = try Restartable()
        let first = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await first.run() }
        let remote = try nodes.remote()
        var id = StateID.none
        for number in 1...20 { id = try await remote.sendAndConfirm(.note("\(number)")) }
        #expect(try await remote.state(atLeast: id).seq == Seq(20))
        first.stop()
        _ = try await life.value
        // The journal is another one now, as after a cut.
        let second = try nodes.reducer(Jobs(ends: false)) { $0.journal = .memory }
        let again = Task { try await second.run() }
        let (seq, state) = try await remote.currentState(within: .seconds(60))
        #expect(seq == .initial && state.notes == [])
        let lost = id
        let error = await #expect(throws: NodeError.self) { try await remote.state(atLeast: lost) }
        #expect(error?.description.contains("seq 20") == true && error?.description.contains("is lost") == true)
        // What was accepted for the lost stream is refused; the next one is of the new history.
        var next = StateID.none
        while next == .none {
            do throws(SendRefusal) {
                next = try await remote.sendAndConfirm(.note("here"))
            } catch {
                try #require(error.reason == .historyChanged)
            }
        }
        #expect(next.seq == Seq(1) && next.history != id.history)
        #expect(try await remote.state(atLeast: next).state.notes == ["here"])
        await remote.close()
        second.stop()
        _ = try await again.value
    }

    @Test func `of a large state waits for no transfer that is over`() async throws {
        let nodes = try Restartable()
        let reducer = try nodes.reducer(Jobs(ends: false))
        let life = Task { try await reducer.run() }
        let remote = try nodes.remote()
        for _ in 1...8 { try await remote.send(.note(String(repeating: "x", count: 400_000))) }
        for number in 1...7 {
            let id = try await remote.sendAndConfirm(.note("\(number)"))
            #expect(try await remote.state(atLeast: id).state.notes.contains("\(number)"))
        }
        #expect(try await nodes.status { _ in true }.counters["stateTransferBusy"] ?? 0 == 0)
        await remote.close()
        reducer.stop()
        _ = try await life.value
    }
}
