import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

/// Two reducers with one journal in a file, of which one leads and the other stands by; inside this process.
private final class Pair: Sendable {
    let folder = TestFolder()
    let addresses: [ReducerAddress]
    let both: ReducerAddress
    private let jobs: Jobs
    private let place: JournalPlace

    init(_ jobs: Jobs, journal: JournalPlace? = nil, count: Int = 2) throws {
        self.jobs = jobs
        addresses = (0..<count).map { _ in ipcAddress() }
        place = journal ?? .file("\(folder.path)/jobs.journal")
        both = try ReducerAddress(parsing: addresses.map(\.description).joined(separator: ","))
    }

    struct Member: Sendable {
        let node: ReducerNode<Jobs>
        let run: Task<Outcome?, any Error>

        /// As by SIGKILL.
        func kill() async {
            node.kill()
            _ = try? await run.value
        }
    }

    func start(_ index: Int, _ change: (inout ReducerNodeConfiguration) -> Void = { _ in }) throws -> Member {
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(addresses[index]), journal: place, log: .silent)
        configuration.succession = .standby
        configuration.machine.silenceLimit = .seconds(2)
        change(&configuration)
        let node = try ReducerNode(jobs, configuration: configuration)
        return Member(node: node, run: Task { try await node.run() })
    }

    func status(
        of address: ReducerAddress, where isWanted: @Sendable (StatusReport) -> Bool
    ) async throws -> StatusReport {
        while true {
            let report = try await NodeThread.run("probe") { try StatusProbe.ask(address, within: .seconds(60)) }
            if isWanted(report) { return report }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func remote(_ reducer: ReducerAddress) throws -> RemoteLoop<Jobs> {
        try RemoteLoop(Jobs.self, reducer: reducer, log: .silent)
    }

    func worker(_ reducer: ReducerAddress) throws -> TestWorker {
        TestWorker(
            try EffectNode(
                jobs, configuration: EffectNodeConfiguration(reducer: reducer, name: "w", log: .silent)))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A standby` {
    @Test
    func `says who leads, sends peers there, and takes over with their running effects when the leader is killed`()
        async throws
    {
        let door = Door()
        let pair = try Pair(
            Jobs(work: { job in
                try await door.pass()
                return job
            }))
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let second = try pair.start(1)
        let report = try await pair.status(of: pair.addresses[1]) { $0.leader != nil }
        #expect(report.role == "standby" && !report.isReady)
        #expect(report.leader == pair.addresses[0].description)
        #expect(
            report.notReadyBecause == "it is a standby, and the leader is at \(pair.addresses[0])")
        // One knows the standby alone, and is sent on.
        let redirected = try pair.remote(pair.addresses[1])
        try await redirected.sendAndConfirm(.note("redirected"))
        await redirected.close()

        let sender = try pair.remote(pair.both)
        let observer = try pair.remote(pair.both)
        let worker = try pair.worker(pair.both)
        try await sender.sendAndConfirm(.add(4))
        while door.arrivedCount < 4 { try await Task.sleep(for: .milliseconds(5)) }

        await first.kill()
        for number in 0..<20 { try await sender.send(.note("\(number)")) }
        let seq = try await sender.sendAndConfirm(.note("last"))
        let taken = try await pair.status(of: pair.addresses[1]) { $0.feedbacks.first?.running == 4 }
        #expect(taken.role == "leader" && taken.epoch == 2)
        #expect(taken.leader == pair.addresses[1].description)
        // None ran twice: they were adopted where they ran.
        #expect(door.arrivedCount == 4 && door.cancelledCount == 0)
        let (_, state) = try await observer.state(atLeast: seq)
        #expect(state.notes == ["redirected"] + (0..<20).map(String.init) + ["last"])
        // The observer reads through the leader too.
        #expect(try await observer.currentState(within: .seconds(60)).state.notes == state.notes)
        door.open()
        #expect(try await second.run.value == Outcome(text: "sum 6"))
        _ = try await worker.end
        #expect(door.arrivedCount == 4)
        await sender.close()
        await observer.close()
    }

    @Test func `that leads with another journal is noticed by its peers, each time they change`() async throws {
        let pair = try Pair(Jobs(ends: false))
        let log = LogCollector()
        func start(_ index: Int) async throws -> Pair.Member {
            let member = try pair.start(index) { configuration in
                configuration.succession = .refuse
                configuration.journal = .file("\(pair.folder.path)/\(index).journal")
            }
            _ = try await pair.status(of: pair.addresses[index]) { $0.isReady }
            return member
        }
        let remote = try RemoteLoop(Jobs.self, reducer: pair.both, log: log.handler)
        // One that was on its way when the history changed is refused.
        func send(_ note: String) async throws {
            while true {
                do {
                    try await remote.sendAndConfirm(.note(note))
                    return
                } catch { continue }
            }
        }
        func changes() -> [LogEvent] { log.events.filter { $0.kind == .historyChanged } }
        let first = try await start(0)
        try await send("one")
        await first.kill()
        let second = try await start(1)
        try await send("two")
        #expect(changes().count == 1)
        await second.kill()
        let again = try await start(0)
        try await send("three")
        #expect(changes().count == 2 && changes()[1].text.contains("different journals"), "\(log.lines)")
        let report = try await pair.status(of: pair.addresses[0]) { !$0.warnings.isEmpty }
        #expect(report.warnings[0].contains("A REDUCER HAS LED WITH ANOTHER JOURNAL"), "\(report.warnings)")
        await remote.close()
        await again.kill()
    }

    @Test func `that leads with another journal at the same time is told of by both, and neither is accused`()
        async throws
    {
        let pair = try Pair(Jobs(ends: false))
        let logs = [LogCollector(), LogCollector()]
        var members: [Pair.Member] = []
        for index in 0...1 {
            members.append(
                try pair.start(index) { configuration in
                    configuration.succession = .refuse
                    configuration.journal = .file("\(pair.folder.path)/\(index).journal")
                    configuration.reducers = pair.both
                    configuration.log = logs[index].handler
                })
        }
        for (own, other) in [(0, 1), (1, 0)] {
            let report = try await pair.status(of: pair.addresses[own]) {
                $0.notReadyBecause?.contains("TWO LEADERS WITH DIFFERENT HISTORIES") == true
            }
            let why = try #require(report.notReadyBecause)
            #expect(why.contains("--journal"), "\(why)")
            #expect(why.contains("\(pair.addresses[other])") && why.contains(report.history), "\(why)")
            #expect(report.warnings.contains(why), "\(report.warnings)")
        }
        // It is told again if the other one has not answered in time for once.
        while !logs.allSatisfy({ $0.events.contains { $0.kind == .historyChanged } }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        await members[1].kill()
        _ = try await pair.status(of: pair.addresses[0]) { $0.isReady }
        await members[0].kill()
    }

    @Test func `follows the journal while it waits, and goes on from what it has`() async throws {
        let pair = try Pair(Jobs(ends: false))
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let lines = Locked<[String]>([])
        let second = try pair.start(1) { configuration in
            configuration.log = LogHandler { event in lines.withLock { $0.append(event.text) } }
        }
        let sender = try pair.remote(pair.both)
        for number in 0..<20 { try await sender.sendAndConfirm(.note("\(number)")) }
        let report = try await pair.status(of: pair.addresses[1]) { $0.seq == 20 && $0.following?.lag == 0 }
        #expect(report.following?.coldBecause == nil && report.following?.lagMilliseconds != nil)
        #expect(report.following?.position ?? 0 > 20)
        await first.kill()
        try await sender.sendAndConfirm(.note("last"))
        #expect(
            lines.withLock {
                $0.contains { $0.hasPrefix("recovered seq 20 from a warm state at seq 20 and 0 records in") }
            })
        let (_, state) = try await sender.currentState(within: .seconds(60))
        #expect(state.notes == (0..<20).map(String.init) + ["last"])
        await sender.close()
        second.node.stop()
        _ = try await second.run.value
    }

    /// A database that does not answer keeps the thread that asks it waiting.
    @Test func `answers peers while its journal answers nothing`() async throws {
        let gate = Monitor(false)
        let place = JournalPlace(
            path: { _ in nil },
            open: { opening throws(JournalError) in
                gate.wait(until: { $0 })
                return try JournalPlace.memory.open(opening)
            }, read: nil)
        let pair = try Pair(Jobs(ends: false), journal: place)
        let reducer = try pair.start(0)
        for _ in 0..<3 {
            let report = try await pair.status(of: pair.addresses[0]) { _ in true }
            #expect(report.isStandby && report.leader == nil)
            #expect(report.following?.coldBecause == "a journal in memory cannot be followed")
        }
        gate.withLock { $0 = true }
        gate.broadcast()
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        reducer.node.stop()
        _ = try await reducer.run.value
    }

    /// Found by chaos with a database: such a standby ended.
    @Test(arguments: [1, 3])
    func `reads the journal again that could not be read when it came to lead`(failures: Int) async throws {
        let disk = TestDisk()
        disk.content.withLock { $0.readFailures = Array(repeating: .unreachable, count: failures) }
        let pair = try Pair(Jobs(ends: false), journal: disk.place)
        let reducer = try pair.start(0)
        let sender = try pair.remote(pair.both)
        try await sender.sendAndConfirm(.note("a"))
        #expect(disk.content.withLock { $0.readFailures.isEmpty && $0.openCount == failures + 1 })
        await sender.close()
        reducer.node.stop()
        _ = try await reducer.run.value
    }

    @Test func `has a lease and a deadline within limits`() throws {
        let changes: [@Sendable (inout ReducerNodeConfiguration) -> Void] = [
            { $0.journalLease = .milliseconds(249) }, { $0.journalLease = .seconds(61) },
            { $0.journalDeadline = .zero }, { $0.journalDeadline = .seconds(601) },
        ]
        for change in changes {
            var configuration = ReducerNodeConfiguration()
            change(&configuration)
            let error = #expect(throws: NodeError.self) { try ReducerNode(Jobs(), configuration: configuration) }
            #expect(error?.description.contains(", and must be from 0.25 seconds to ") == true)
        }
    }

    @Test func `says why it does not follow a journal that cannot be followed`() async throws {
        let pair = try Pair(Jobs(ends: false), journal: SharedDisk().place)
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let second = try pair.start(1)
        let report = try await pair.status(of: pair.addresses[1]) {
            $0.following?.coldBecause == "this journal cannot be followed"
        }
        #expect(report.seq == 0 && report.isStandby)
        for member in [second, first] {
            member.node.stop()
            _ = try await member.run.value
        }
    }

    private func stepDown(_ leader: ReducerAddress) async throws -> String {
        try await NodeThread.run("ask") {
            var call = try AdministrationCall(reducer: leader)
            return try call.ask(.stepDown(takesSnapshot: false, who: "ada@desk"), \.done, within: .seconds(60))
        }
    }

    @Test(arguments: [1, 2]) func `leaves the journal to the other one if an operator has asked for that`(next: Int)
        async throws
    {
        let pair = try Pair(Jobs(ends: false), count: 3)
        var members = [try pair.start(0)]
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        members += [try pair.start(1), try pair.start(2)]
        let sender = try pair.remote(pair.both)
        try await sender.sendAndConfirm(.note("one"))
        for index in 1...2 { _ = try await pair.status(of: pair.addresses[index]) { $0.seq == 1 && $0.isStandby } }
        func order(_ index: Int, _ request: AdministrationRequest) async throws -> String {
            try await NodeThread.run("ask") {
                var call = try AdministrationCall(reducer: pair.addresses[index])
                return try call.ask(request, \.done, within: .seconds(60))
            }
        }
        await #expect(throws: AdministrationError.self) {
            try await order(0, .standBack(milliseconds: 60_000, who: "ada@desk"))
        }
        let other = 3 - next
        let said = try await order(other, .standBack(milliseconds: 60_000, who: "ada@desk"))
        #expect(said == "it leaves the journal to others for 60 s")
        _ = try await stepDown(pair.addresses[0])
        try await sender.sendAndConfirm(.note("two"))
        #expect(try await pair.status(of: pair.addresses[next]) { !$0.isStandby }.seq == 2)
        // It comes first again when the time is over, or when it is told so.
        _ = try await order(other, .standBack(milliseconds: 0, who: "ada@desk"))
        await members[next].kill()
        await members[0].kill()
        try await sender.sendAndConfirm(.note("three"))
        #expect(try await pair.status(of: pair.addresses[other]) { !$0.isStandby }.seq == 3)
        await sender.close()
        await members[other].kill()
    }

    @Test func `leads when the leader steps down, which follows it, with running effects kept and no event lost`()
        async throws
    {
        let door = Door()
        let pair = try Pair(
            Jobs(work: { job in
                try await door.pass()
                return job
            }))
        let lines = Locked<[String]>([])
        let log = LogHandler { event in lines.withLock { $0.append(event.text) } }
        let members = [try pair.start(0) { $0.log = log }, try pair.start(1) { $0.log = log }]
        let sender = try pair.remote(pair.both)
        let worker = try pair.worker(pair.both)
        try await sender.sendAndConfirm(.add(4))
        while door.arrivedCount < 4 { try await Task.sleep(for: .milliseconds(5)) }
        var leader = try await pair.status(of: pair.addresses[0]) { $0.leader != nil }.isStandby ? 1 : 0
        for round in 0..<4 {
            let other = 1 - leader
            _ = try await pair.status(of: pair.addresses[other]) {
                $0.isStandby && $0.seq > 0 && $0.following?.lag == 0
            }
            for number in 0..<10 { try await sender.send(.note("\(round).\(number)")) }
            let line = try await stepDown(pair.addresses[leader])
            #expect(line.hasPrefix("it has let go of the journal at seq ") && line.hasSuffix(", in epoch \(round + 1)"))
            try await sender.sendAndConfirm(.note("\(round).10"))
            let taken = try await pair.status(of: pair.addresses[other]) { $0.feedbacks.first?.running == 4 }
            #expect(taken.role == "leader" && taken.epoch == UInt64(round + 2))
            let left = try await pair.status(of: pair.addresses[leader]) { $0.leader != nil && $0.following?.lag == 0 }
            #expect(left.isStandby && left.leader == pair.addresses[other].description)
            #expect(left.following?.coldBecause == nil)
            leader = other
        }
        // None ran twice: they were adopted where they ran.
        #expect(door.arrivedCount == 4 && door.cancelledCount == 0)
        let (_, state) = try await sender.currentState(within: .seconds(60))
        #expect(state.notes == (0..<4).flatMap { round in (0...10).map { "\(round).\($0)" } })
        let said = lines.withLock { $0 }
        #expect(said.count { $0.contains("from a warm state at seq") } == 4)
        #expect(said.count { $0.hasPrefix("ada@desk has asked it to step down: it has led until seq ") } == 4)
        #expect(said.count { $0.contains("up to which it has led") } == 4)
        door.open()
        _ = try await members[leader].run.value
        _ = try await worker.end
        await sender.close()
        members[1 - leader].node.stop()
        _ = try await members[1 - leader].run.value
    }

    @Test func `that is not there is no successor: who has stepped down leads again`() async throws {
        let pair = try Pair(Jobs(ends: false))
        let only = try pair.start(0)
        let sender = try pair.remote(pair.both)
        try await sender.sendAndConfirm(.note("before"))
        _ = try await stepDown(pair.addresses[0])
        try await sender.sendAndConfirm(.note("after"))
        #expect(try await pair.status(of: pair.addresses[0]) { $0.isReady }.epoch == 2)
        await sender.close()
        only.node.stop()
        _ = try await only.run.value
    }

    @Test(arguments: [true, false]) func `alone may take the place of a leader that steps down`(hasFile: Bool)
        async throws
    {
        let pair = try Pair(Jobs(ends: false), journal: hasFile ? nil : .memory)
        let reducer = try pair.start(0) { $0.succession = hasFile ? .refuse : .standby }
        _ = try await pair.status(of: pair.addresses[0]) { $0.isReady }
        let error = await #expect(throws: AdministrationError.self) { try await stepDown(pair.addresses[0]) }
        #expect(error?.description.contains("was started without --standby, or keeps its journal in memory") == true)
        #expect(try await pair.status(of: pair.addresses[0]) { $0.isReady }.epoch == 1)
        reducer.node.stop()
        _ = try await reducer.run.value
    }

    @Test func `is heard when it takes over by those who know it alone`() async throws {
        let pair = try Pair(Jobs(ends: false))
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let second = try pair.start(1)
        _ = try await pair.status(of: pair.addresses[1]) { $0.leader != nil }
        let sender = try pair.remote(pair.addresses[1])
        try await sender.sendAndConfirm(.note("before"))
        await first.kill()
        #expect(try await sender.sendAndConfirm(.note("after")).seq == Seq(2))
        await sender.close()
        second.node.stop()
        _ = try await second.run.value
    }

    @Test func `that was the leader before follows the one that is now, and peers go back and forth`() async throws {
        let pair = try Pair(Jobs(ends: false))
        var members = [try pair.start(0)]
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        members.append(try pair.start(1))
        let sender = try pair.remote(pair.both)
        for round in 0..<4 {
            let (old, new) = (round % 2, (round + 1) % 2)
            _ = try await pair.status(of: pair.addresses[new]) { $0.leader == pair.addresses[old].description }
            try await sender.sendAndConfirm(.note("before \(round)"))
            await members[old].kill()
            try await sender.sendAndConfirm(.note("after \(round)"))
            _ = try await pair.status(of: pair.addresses[new]) { $0.role == "leader" }
            members[old] = try pair.start(old)
        }
        let (_, state) = try await sender.currentState(within: .seconds(60))
        #expect(state.notes == (0..<4).flatMap { ["before \($0)", "after \($0)"] })
        await sender.close()
        for member in members {
            member.node.stop()
            _ = try await member.run.value
        }
    }

    @Test func `is what a leader becomes that loses its journal to another`() async throws {
        let shared = SharedDisk()
        let pair = try Pair(Jobs(ends: false), journal: shared.place)
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let second = try pair.start(1)
        _ = try await pair.status(of: pair.addresses[1]) { $0.leader != nil }
        let sender = try pair.remote(pair.both)
        try await sender.sendAndConfirm(.note("one"))
        // The leader's append fails, and it lets go of the journal.
        shared.disk.fail(.failedDisk)
        try await sender.sendAndConfirm(.note("two"))
        _ = try await pair.status(of: pair.addresses[0]) { $0.leader == pair.addresses[1].description }
        // And back, as if nothing had happened.
        await second.kill()
        try await sender.sendAndConfirm(.note("three"))
        let (_, state) = try await sender.currentState(within: .seconds(60))
        #expect(state.notes == ["one", "two", "three"])
        #expect(try await pair.status(of: pair.both) { $0.isReady }.leader == pair.addresses[0].description)
        await sender.close()
        first.node.stop()
        _ = try await first.run.value
    }

    @Test func `answers operators by sending them to the leader, whichever address they know`() async throws {
        let pair = try Pair(Jobs(ends: false))
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let second = try pair.start(1)
        _ = try await pair.status(of: pair.addresses[1]) { $0.leader != nil }
        for address in pair.addresses + [pair.both] {
            let schedules = try await NodeThread.run("ask") {
                var call = try AdministrationCall(reducer: address)
                return try call.ask(.schedules, \.schedules, within: .seconds(60))
            }
            #expect(schedules.isEmpty)
        }
        let members = try await NodeThread.run("ask") {
            try StatusProbe.members(of: pair.both, within: .seconds(60))
        }
        #expect(members.map(\.address) == pair.addresses)
        #expect(members.map(\.report.role) == ["leader", "standby"])
        // A leader that only the standby knows is found.
        let found = try await NodeThread.run("ask") {
            try StatusProbe.members(of: pair.addresses[1], within: .seconds(60))
        }
        #expect(found.map(\.address) == pair.addresses)
        second.node.stop()
        #expect(try await second.run.value == nil)
        first.node.stop()
        _ = try await first.run.value
    }

    /// Every request with a number, with the smallest and the largest values of each.
    private static let requestsWithExtremes: [AdministrationRequest] = {
        let (who, notes) = ("ada@desk", StateSelection(path: ["notes"]))
        let (counts, filter) = ([0, 1, Int.max, Int.min], HistoryFilter(kind: "event"))
        var requests: [AdministrationRequest] = [0, 1, UInt64.max].flatMap { number -> [AdministrationRequest] in
            let effect = "\(UInt32(clamping: number)).\(number).\(UInt32(clamping: number))"
            let ofSession = HistoryFilter(session: number, effect: effect)
            return [
                .effects(EffectSelection(effect: effect)), .retryParked(effect: effect, who: who),
                .quarantined(id: number), .retryQuarantined(id: number, who: who),
                .dropQuarantined(id: number, who: who), .state(at: number), .origin(of: number),
                .origin(of: number, step: true), .changes(of: notes, before: number, max: 1),
                .trim(before: number), .standBack(milliseconds: number, who: who),
                .history(from: 0, through: nil, after: nil, filter: ofSession),
            ]
                + [nil, filter].flatMap { filter -> [AdministrationRequest] in
                    [
                        .history(from: number, through: nil, after: nil, filter: filter),
                        .history(from: 0, through: number, after: nil, filter: filter),
                        .history(from: 0, through: nil, after: number, filter: filter),
                        .history(from: number, through: 0, after: number, filter: filter),
                    ]
                }
        }
        for count in counts {
            requests += [
                .effects(EffectSelection(max: count)), .changes(of: notes, before: nil, max: count),
                .history(from: 0, through: nil, after: nil, filter: HistoryFilter(max: count)),
            ]
            for max in counts {
                let outline = OutlineSelection(from: count, max: max)
                requests += [.state(at: nil, part: notes, outline: outline), .state(at: 1, outline: outline)]
            }
        }
        return requests
    }()

    @Test func `and its leader answer or refuse every number that an operator may choose, and go on`() async throws {
        let pair = try Pair(Jobs(ends: false))
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let second = try pair.start(1)
        _ = try await pair.status(of: pair.addresses[1]) { $0.leader != nil }
        let sender = try pair.remote(pair.both)
        for note in ["one", "two"] { try await sender.sendAndConfirm(.note(note)) }
        func ask(_ index: Int, _ request: AdministrationRequest) async throws -> AdministrationAnswer {
            try await NodeThread.run("ask") {
                var call = try AdministrationCall(reducer: pair.addresses[index])
                return try call.exchange(request, within: .seconds(60))
            }
        }
        for request in Self.requestsWithExtremes {
            let answer = try await ask(0, request)
            if case .refused(let why) = answer { #expect(!why.contains("does not know the request"), "\(request)") }
        }
        for milliseconds in [UInt64.max, 1, 0] {
            let answer = try await ask(1, .standBack(milliseconds: milliseconds, who: "ada@desk"))
            #expect(answer.done != nil)
        }
        // There is nothing behind the newest record, so a search ends at once.
        let filter = HistoryFilter(kind: "event")
        let page = try await ask(0, .history(from: 0, through: nil, after: .max, filter: filter)).history
        #expect(page?.records.map(\.seq) == [2, 1] && page?.next == nil)
        try await sender.sendAndConfirm(.note("three"))
        #expect(try await ask(0, .state(at: nil)).state?.seq == 3)
        let report = try await pair.status(of: pair.addresses[1]) { $0.seq == 3 }
        #expect(report.isStandby)
        await sender.close()
        for member in [second, first] {
            member.node.stop()
            _ = try await member.run.value
        }
    }

    @Test func `refuses peers of another loop, as the leader would`() async throws {
        let pair = try Pair(Jobs(ends: false))
        let first = try pair.start(0)
        _ = try await pair.status(of: pair.addresses[0]) { $0.role == "leader" }
        let second = try pair.start(1)
        _ = try await pair.status(of: pair.addresses[1]) { $0.leader != nil }
        let other = try RemoteConnection(
            loop: "other", reducer: pair.addresses[1], name: "", log: .silent)
        await #expect(throws: SendRefusal.self) { _ = try await other.send([0], confirmed: true) }
        await other.close()
        for member in [second, first] {
            member.node.stop()
            _ = try await member.run.value
        }
    }
}
