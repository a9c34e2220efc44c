import Foundation
import LoopCollections
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import Testing

/// Whether everything is measured, and not only a small form of it.
private let isMeasured = ProcessInfo.processInfo.environment["LOOP_MEASURE"] != nil

/// How long a steady sender waits while leaders are killed, connections to the database are cut and its quorum is changed. Many
/// records are behind the newest snapshot, and one of two standbys has just begun to read them.
@Suite(.timeLimit(.minutes(isMeasured ? 30 : 5))) struct `G1 G3 A steady sender` {
    private enum Fault: Int, CaseIterable {
        case kill, cut, change
    }

    /// One of the reducers, and what it has said.
    private struct Reducer {
        var process: ChildProcess
        var lines: Locked<[String]>

        func count(of text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }

        /// How often it has begun to lead. One whose journal has failed says it in other words.
        var beginningsCount: Int { count(of: "listening at") + count(of: "the journal can be written again") }
    }

    private static let recordsCount = isMeasured ? 50_000 : 2_000
    private static let faults: [Fault] =
        isMeasured
        ? Array(repeating: .kill, count: 50) + Array(repeating: .cut, count: 10) + Array(repeating: .change, count: 5)
        : [.kill, .cut, .change, .kill, .cut]

    /// How long the sender may wait. With few records only a hang is to be noticed: many other tests run meanwhile.
    private static let pauseMax = Duration.milliseconds(isMeasured ? 2_500 : 20_000)

    private let quorum: DatabaseQuorum
    private let journal: String
    private let addresses = (0..<3).map { _ in freeAddress() }

    init() async throws {
        quorum = try await DatabaseQuorum()
        journal = try quorum.makeDatabase().description
        _ = try await Program.run(Executables.path("loopctl"), ["journal", "init", journal])
    }

    private func start(_ index: Int) throws -> Reducer {
        let lines = Locked<[String]>([])
        let process = try ChildProcess(
            .init(
                Executables.path("loop-reducer"),
                [
                    "counter", "--bind", addresses[index].description, "--journal", journal, "--standby",
                    "--silence-limit", "1s", "--snapshot-every", "1000000000",
                ], output: .lines { _, line in lines.withLock { $0.append(line) } }))
        return Reducer(process: process, lines: lines)
    }

    /// Waits until something is true, for a minute at most.
    private func wait(for what: String, until isTrue: () async throws -> Bool) async throws {
        let deadline = SystemClock.monotonic + .seconds(60)
        while try await !isTrue() {
            guard SystemClock.monotonic < deadline else { throw NodeError.system("waited a minute until \(what)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Which reducer leads, and which others stand by: one that has the leader's state first.
    private func roles() async throws -> (leader: Int, level: Int, late: Int) {
        var roles: (leader: Int, level: Int, late: Int)?
        try await wait(for: "one reducer leads and another one is level with it") {
            let reports = addresses.map { try? StatusProbe.ask($0, within: .seconds(1)) }
            guard let leader = reports.firstIndex(where: { $0?.isReady == true && $0?.isStandby == false }),
                let level = reports.firstIndex(where: {
                    guard $0?.isStandby == true, let following = $0?.following else { return false }
                    return following.coldBecause == nil && following.lag < 100
                        && following.lagMilliseconds ?? .max < 1000
                })
            else { return false }
            roles = (leader, level, 3 - leader - level)
            return true
        }
        return try #require(roles)
    }

    private func inject(_ fault: Fault, _ leader: Reducer) async throws {
        switch fault {
        case .kill:
            leader.process.kill()
            _ = await leader.process.wait()
        case .cut:
            var connection = try quorum.primary.connect("test")
            _ = try connection.run(
                "SELECT pg_terminate_backend(backend::int) FROM loop_journal", "test", within: .seconds(20))
        case .change:
            var connection = try quorum.primary.connect()
            let names = try connection.run("SHOW synchronous_standby_names", "test", within: .seconds(20)).text(0, 0)
            let others = quorum.standbys.map(\.place.name)
            let orders = [others, others.reversed()].map { "ANY 1 (\($0.joined(separator: ",")))" }
            try quorum.primary.change("synchronous_standby_names=" + (names == orders[0] ? orders[1] : orders[0]))
        }
    }

    /// Sends one event after the other until it is told to end, and notes when each one was confirmed.
    private final class SteadySender: Sendable {
        private let times = Locked([SystemClock.monotonic])
        private let isOver = Locked(false)
        private let failure = Locked<(any Error)?>(nil)
        private let count: Task<Int, Never>

        init(_ sender: RemoteConnection) {
            count = Task { [times, isOver, failure] in
                var count = 0
                do {
                    while !isOver.withLock({ $0 }) {
                        _ = try await sender.send(event, confirmed: true)
                        count += 1
                        times.withLock { $0.append(SystemClock.monotonic) }
                    }
                } catch {
                    failure.withLock { $0 = error }
                }
                return count
            }
        }

        /// Whether events were confirmed behind a moment.
        func goesOn(after moment: MonotonicTime) throws -> Bool {
            if let error = failure.withLock({ $0 }) { throw error }
            return times.withLock { $0.count { $0 > moment } >= 5 }
        }

        /// The longest time between two confirmations, from the last one before a moment on.
        func takePause(around moment: MonotonicTime) -> Duration {
            times.withLock { times in
                let moments = times[(times.lastIndex { $0 <= moment } ?? 0)...]
                defer { times = [times[times.count - 1]] }
                return zip(moments, moments.dropFirst()).map { $1 - $0 }.max() ?? .zero
            }
        }

        /// - Returns: how many events were confirmed.
        func end() async -> Int {
            isOver.withLock { $0 = true }
            return await count.value
        }
    }

    /// Sends the records that are behind the newest snapshot.
    private func fill(_ sender: RemoteConnection) async throws {
        for _ in 0..<Self.recordsCount / 500 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 { group.addTask { _ = try await sender.send(event, confirmed: true) } }
                try await group.waitForAll()
            }
        }
    }

    @Test func `never waits for a replay`() async throws {
        var reducers = try [start(0)]
        try await wait(for: "the first reducer leads") { reducers[0].count(of: "listening at") == 1 }
        for index in 1...2 { reducers.append(try start(index)) }
        let all = addresses.map(\.description).joined(separator: ",")
        let sender = try RemoteConnection(
            loop: "counter", reducer: try ReducerAddress(parsing: all), name: "sender", log: .silent)
        try await fill(sender)
        let steady = SteadySender(sender)
        var pauses: [Fault: [Duration]] = [:]
        for fault in Self.faults {
            let (leader, _, late) = try await roles()
            reducers[late].process.kill()
            _ = await reducers[late].process.wait()
            reducers[late] = try start(late)
            try await wait(for: "reducer \(late) has begun to follow the journal from its first record") {
                reducers[late].count(of: "standing by: follows the journal, from seq 0 on") > 0
            }
            let before = reducers.map(\.beginningsCount)
            let injected = SystemClock.monotonic
            try await inject(fault, reducers[leader])
            try await wait(for: "a reducer leads behind a \(fault)") {
                zip(reducers, before).contains { $0.beginningsCount > $1 }
            }
            let successor = try #require(before.indices.first { reducers[$0].beginningsCount > before[$0] })
            let recovered = reducers[successor].lines.withLock { $0 }.last { $0.contains("recovered seq") }
            #expect(recovered?.contains("from a warm state at seq") == true, "\(fault): \(recovered ?? "nothing")")
            let resumed = SystemClock.monotonic
            try await wait(for: "the sender goes on behind a \(fault)") { try steady.goesOn(after: resumed) }
            let pause = steady.takePause(around: injected)
            #expect(pause < Self.pauseMax, "\(fault): \(recovered ?? "nothing")")
            pauses[fault, default: []].append(pause)
            if fault == .kill { reducers[leader] = try start(leader) }
        }
        let count = await Self.recordsCount + steady.end()
        await sender.close()
        for fault in Fault.allCases {
            let sorted = (pauses[fault] ?? []).sorted().map { $0.wholeMilliseconds }
            print("\(fault), \(Self.recordsCount) records behind the snapshot: pauses of \(sorted) ms")
        }
        let state = try await Program.run(
            Executables.path("loopctl"), ["state", "--json", "--reducer", all, "--timeout", "60s"])
        #expect(state.contains(#""count":\#(count)"#), "\(state) \(count)")
        for reducer in reducers {
            #expect(reducer.count(of: "trim --after") == 0)
            reducer.process.terminate()
            #expect(await reducer.process.wait(within: .seconds(20)) == .exited(0))
        }
    }
}

/// `{"increment":{}}` in CBOR.
private let event: [UInt8] = [0xa1, 0x69] + Array("increment".utf8) + [0xa0]
