import Foundation
import LoopCore
import LoopLock
import LoopNode
import LoopPostgres
import LoopWire
import PostgreSQL
import TestDatabase
import Testing

/// How long a steady sender waits while leaders are killed, connections to the database are cut and its quorum is changed. Many
/// records are behind the newest snapshot, and one of two standbys has just begun to read them.
@Suite(.timeLimit(.minutes(30))) struct `G1 G3 A steady sender` {
    private enum Fault: Int, CaseIterable {
        case kill, cut, change
    }

    /// One of the reducers, and what it has said.
    private struct Reducer {
        var process: ChildProcess
        var lines: Locked<[String]>

        func count(of text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }
    }

    /// What is measured where the environment says so, and a small form of it.
    private static let isMeasured = ProcessInfo.processInfo.environment["LOOP_MEASURE"] != nil
    private static let recordsCount = isMeasured ? 50_000 : 2_000
    private static let faults: [Fault] =
        isMeasured
        ? Array(repeating: .kill, count: 50) + Array(repeating: .cut, count: 10) + Array(repeating: .change, count: 5)
        : [.kill, .cut, .change, .kill, .cut]

    /// `{"increment":{}}` in CBOR.
    private static let event: [UInt8] = [0xa1, 0x69] + Array("increment".utf8) + [0xa0]

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

    private func wait(until isTrue: () throws -> Bool) async throws {
        while try !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
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

    @Test func `never waits for a replay`() async throws {
        var reducers = try [start(0)]
        try await wait { reducers[0].count(of: "listening at") == 1 }
        for index in 1...2 { reducers.append(try start(index)) }
        let both = addresses.map(\.description).joined(separator: ",")
        let sender = try RemoteConnection(
            loop: "counter", reducer: try ReducerAddress(parsing: both), name: "sender", observing: .nothing,
            log: .silent)
        var sent = 0
        while sent < Self.recordsCount {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 { group.addTask { _ = try await sender.send(Self.event, confirmed: true) } }
                try await group.waitForAll()
            }
            sent += 500
        }
        let times = Locked([SystemClock.monotonic])
        let isOver = Locked(false)
        let steady = Task { [sent] in
            var sent = sent
            while !isOver.withLock({ $0 }) {
                _ = try await sender.send(Self.event, confirmed: true)
                sent += 1
                times.withLock { $0.append(SystemClock.monotonic) }
            }
            return sent
        }
        var leading = 0
        var pauses: [Fault: [Duration]] = [:]
        for fault in Self.faults {
            let (level, late) = ((leading + 1) % 3, (leading + 2) % 3)
            _ = try await status(of: addresses[level]) {
                $0.isStandby && $0.following?.coldBecause == nil && ($0.following?.lag ?? .max) < 100
            }
            reducers[late].process.kill()
            _ = await reducers[late].process.wait()
            reducers[late] = try start(late)
            try await wait { reducers[late].count(of: "standing by: follows the journal, from seq") == 1 }
            let before = reducers.map { $0.count(of: "listening at") }
            let injected = SystemClock.monotonic
            try await inject(fault, reducers[leading])
            try await wait {
                zip(reducers, before).contains { $0.count(of: "listening at") > $1 }
            }
            let successor = zip(reducers, before).map { $0.count(of: "listening at") > $1 }.firstIndex(of: true) ?? 0
            #expect(fault == .kill ? successor == level : successor == leading, "\(fault): \(leading), \(successor)")
            #expect(
                reducers[successor].lines.withLock { $0 }.last { $0.contains("recovered seq") }?
                    .contains("from a warm state at seq") == true, "\(fault)")
            let resumed = SystemClock.monotonic
            try await wait { times.withLock { $0.count { $0 > resumed } } >= 5 }
            let moments = times.withLock { times in
                defer { times = [times[times.count - 1]] }
                return times.filter { $0 > injected - .seconds(1) }
            }
            pauses[fault, default: []].append(zip(moments, moments.dropFirst()).map { $1 - $0 }.max() ?? .zero)
            if fault == .kill { reducers[leading] = try start(leading) }
            leading = successor
        }
        isOver.withLock { $0 = true }
        let count = try await steady.value
        await sender.close()
        for fault in Fault.allCases {
            let sorted = (pauses[fault] ?? []).sorted().map { $0.wholeNanoseconds / 1_000_000 }
            print("\(fault), \(Self.recordsCount) records behind the snapshot: pauses of \(sorted) ms")
        }
        let state = try await Program.run(
            Executables.path("loopctl"), ["state", "--json", "--reducer", both, "--timeout", "60s"])
        #expect(state.contains(#""count":\#(count)"#), "\(state) \(count)")
        for reducer in reducers {
            #expect(reducer.count(of: "trim --after") == 0)
            reducer.process.terminate()
            #expect(await reducer.process.wait(within: .seconds(20)) == .exited(0))
        }
    }
}
