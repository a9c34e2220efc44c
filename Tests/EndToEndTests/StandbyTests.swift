import Foundation
import Glibc
import LoopCollections
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import TestFolders
import Testing

/// Reducer processes with one journal, usually two: the leader is killed or steps down, and the standby takes over.
@Suite(.timeLimit(.minutes(5))) struct `G3 G4 G6 A leader with a standby` {
    private let folder = TestFolder()
    private let addresses = [freeAddress(), freeAddress(), freeAddress()]
    private var both: String { addresses.prefix(2).map(\.description).joined(separator: ",") }

    enum Setting: CaseIterable {
        case file, fileWithKeys, database
    }

    /// `{"increment":{}}` in CBOR.
    private static let event: [UInt8] = [0xa1, 0x69] + Array("increment".utf8) + [0xa0]

    private var keys: String { "\(folder.path)/keys" }

    /// Makes the keys of a reducer and of one peer, which may do everything that is done here.
    private func makeKeys() async throws -> PeerKeys {
        let loopctl = Executables.path("loopctl")
        _ = try await Program.run(loopctl, ["keygen", keys, "server", "--role", "reducer"])
        _ = try await Program.run(
            loopctl,
            ["keygen", keys, "peer", "--role", "worker", "--role", "sender", "--role", "observer", "--role", "admin"])
        return try PeerKeys(reading: secret, reducer: "\(keys)/server.key")
    }

    private var secret: String { "\(keys)/peer.key_secret" }

    private func journal(_ setting: Setting) async throws -> String {
        guard setting == .database else { return "\(folder.path)/journal" }
        let url = try await TestDatabase.shared.value.makeDatabase().description
        _ = try await Program.run(Executables.path("loopctl"), ["journal", "init", url])
        return url
    }

    private func reducer(
        _ index: Int, journal: String, hasKeys: Bool, options: [String] = []
    ) throws -> (process: ChildProcess, lines: Locked<[String]>) {
        let lines = Locked<[String]>([])
        let process = try ChildProcess(
            .init(
                Executables.path("loop-reducer"),
                [
                    "counter", "--bind", addresses[index].description, "--journal", journal, "--standby",
                    "--silence-limit", "1s",
                ] + (hasKeys ? ["--keys", keys] : []) + options,
                output: .lines { _, line in lines.withLock { $0.append(line) } }))
        return (process, lines)
    }

    private func wait(_ lines: Locked<[String]>, for text: String) async throws {
        while !lines.withLock({ $0.contains { $0.contains(text) } }) { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(arguments: Setting.allCases)
    func `that is killed is followed by it, and no event is lost or applied twice`(setting: Setting) async throws {
        let hasKeys = setting == .fileWithKeys
        let journal = try await journal(setting)
        let peerKeys = hasKeys ? try await makeKeys() : nil
        let options = hasKeys ? ["--key", secret, "--reducer-key", "\(keys)/server.key"] : []
        var first = try reducer(0, journal: journal, hasKeys: hasKeys)
        try await wait(first.lines, for: "listening at")
        var second = try reducer(1, journal: journal, hasKeys: hasKeys)
        try await wait(second.lines, for: "standing by: the leader is at \(addresses[0])")
        try await wait(second.lines, for: "standing by: follows the journal")
        let worker = try ChildProcess(
            .init(
                Executables.path("loop-effect"), ["counter", "--reducer", both] + options, output: .lines { _, _ in }))
        defer { worker.kill() }
        let sender = try RemoteConnection(
            loop: "counter", reducer: try ReducerAddress(parsing: both).with(peerKeys), name: "sender",
            log: .silent)
        for round in 0..<4 {
            for _ in 0..<25 { _ = try await sender.send(Self.event, confirmed: false) }
            let (leader, standby) = (round % 2, (round + 1) % 2)
            first.process.kill()
            _ = await first.process.wait()
            _ = try await sender.send(Self.event, confirmed: true)
            try await wait(second.lines, for: "listening at \(addresses[standby])")
            // It replays what it has not followed, and no more.
            try await wait(second.lines, for: "from a warm state at seq")
            first = second
            second = try reducer(leader, journal: journal, hasKeys: hasKeys)
            try await wait(second.lines, for: "standing by: the leader is at \(addresses[standby])")
            try await wait(second.lines, for: "standing by: follows the journal")
        }
        let table = try await Program.run(Executables.path("loopctl"), ["status", "--reducer", both] + options)
        #expect(table.contains("\(addresses[0])  leader"))
        #expect(table.contains("\(addresses[1])  standby") && table.contains("follows \(addresses[0])"))
        #expect(table.contains("lease 1000 ms, proven") == (setting == .database), "\(table)")
        // The leader answers, whichever address is asked.
        for address in addresses.prefix(2).map(\.description) + [both] {
            let state = try await Program.run(
                Executables.path("loopctl"), ["state", "--json", "--reducer", address, "--timeout", "60s"] + options)
            #expect(state.contains(#""count":104"#), "\(state)")
        }
        await sender.close()
        for process in [second.process, first.process] {
            process.terminate()
            #expect(await process.wait(within: .seconds(20)) == .exited(0))
        }
    }

    /// Waits until one of the three reducers leads, and both others follow it closely.
    private func waitUntilStandbysAreClose() async throws {
        while true {
            var reports: [StatusReport] = []
            for address in addresses { reports.append(try await status(of: address)) }
            let closeCount = reports.count { report in
                guard report.isStandby, let following = report.following else { return false }
                return following.coldBecause == nil && following.lagMilliseconds ?? .max < 1000
            }
            if closeCount == 2, reports.contains(where: \.isReady) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test(arguments: [Setting.file, .database])
    func `that steps down is followed by the standby that is named, and not by another`(setting: Setting) async throws {
        let journal = try await journal(setting)
        var processes: [ChildProcess] = []
        for index in addresses.indices {
            // No standby takes the journal of a leader that is slow. It hears the leader every quarter of a lease.
            let (process, lines) = try reducer(
                index, journal: journal, hasKeys: false, options: setting == .database ? ["--lease", "10s"] : [])
            processes.append(process)
            if index == 0 { try await wait(lines, for: "listening at") }
        }
        let began = SystemClock.monotonic
        let all = addresses.map(\.description).joined(separator: ",")
        for index in [1, 2, 0, 2, 1, 0] {
            try await waitUntilStandbysAreClose()
            let named = addresses[index].description
            let said = try await Program.run(
                Executables.path("loopctl"),
                ["step-down", "--connect-timeout", "60s", "--reducer", all, "--to", named])
            #expect(said.contains("\(named) leads in epoch "), "\(said)")
        }
        // Its process has run since before, although its term has just begun.
        let age = (SystemClock.monotonic - began).wholeMilliseconds
        #expect(try await status(of: addresses[0]) { $0.isReady }.uptimeMilliseconds >= age)
        for process in processes {
            process.terminate()
            #expect(await process.wait(within: .seconds(20)) == .exited(0))
        }
    }

    @Test func `whose keys it has, and another journal, is found by it, and both say so`() async throws {
        _ = try await makeKeys()
        let keyOptions = ["--key", secret, "--reducer-key", "\(keys)/server.key"]
        let options = ["--reducer", addresses.map(\.description).joined(separator: ",")] + keyOptions
        let reducers = try (0...1).map { index in
            try reducer(index, journal: "\(folder.path)/\(index).journal", hasKeys: true, options: options)
        }
        for (index, reducer) in reducers.enumerated() {
            try await wait(reducer.lines, for: "TWO LEADERS WITH DIFFERENT HISTORIES")
            // A report lacks it if the other one has not answered in time.
            var status = ""
            while !status.contains("counter, not ready: TWO LEADERS WITH DIFFERENT HISTORIES")
                || !status.contains("\(addresses[1 - index]) leads in history")
            {
                status = try await Program.run(
                    Executables.path("loopctl"),
                    ["status", "--timeout", "60s", "--reducer", addresses[index].description] + keyOptions)
            }
        }
        for reducer in reducers {
            reducer.process.terminate()
            #expect(await reducer.process.wait(within: .seconds(20)) == .exited(0))
        }
    }

    /// How often the leader steps down: more often to measure how long that takes.
    private static let stepsCount = ProcessInfo.processInfo.environment["LOOP_MEASURE"] == nil ? 4 : 20

    @Test(arguments: Setting.allCases)
    func `that steps down follows it, back and forth, and no event is lost or applied twice`(
        setting: Setting
    ) async throws {
        let hasKeys = setting == .fileWithKeys
        let journal = try await journal(setting)
        let peerKeys = hasKeys ? try await makeKeys() : nil
        let options = hasKeys ? ["--key", secret, "--reducer-key", "\(keys)/server.key"] : []
        let first = try reducer(0, journal: journal, hasKeys: hasKeys)
        try await wait(first.lines, for: "listening at")
        let second = try reducer(1, journal: journal, hasKeys: hasKeys)
        let worker = try ChildProcess(
            .init(
                Executables.path("loop-effect"), ["counter", "--reducer", both] + options, output: .lines { _, _ in }))
        defer { worker.kill() }
        let known = addresses.map { $0.with(peerKeys) }
        let sender = try RemoteConnection(
            loop: "counter", reducer: try ReducerAddress(parsing: both).with(peerKeys), name: "sender",
            log: .silent)
        var times: [Duration] = []
        for round in 0..<Self.stepsCount {
            let (leader, standby) = (round % 2, (round + 1) % 2)
            for _ in 0..<25 { _ = try await sender.send(Self.event, confirmed: false) }
            _ = try await status(of: known[standby]) { $0.isStandby && $0.seq > 0 && $0.following?.lag == 0 }
            let began = SystemClock.monotonic
            if round == 1 {
                let said = try await Program.run(
                    Executables.path("loopctl"), ["step-down", "--reducer", both] + options)
                #expect(said.contains("it has let go of the journal at seq "), "\(said)")
                #expect(said.contains("\(addresses[standby]) leads in epoch \(round + 2), "), "\(said)")
            } else {
                let reducer = known[leader]
                _ = try await NodeThread.run("ask") {
                    var call = try AdministrationCall(reducer: reducer)
                    return try call.ask(.stepDown(takesSnapshot: false, who: "test"), \.done, within: .seconds(60))
                }
            }
            _ = try await sender.send(Self.event, confirmed: true)
            times.append(SystemClock.monotonic - began)
        }
        for lines in [first.lines, second.lines] {
            let said = lines.withLock { $0 }
            #expect(said.count { $0.contains("from a warm state at seq") } == Self.stepsCount / 2, "\(said)")
        }
        let state = try await Program.run(
            Executables.path("loopctl"), ["state", "--json", "--reducer", both, "--timeout", "60s"] + options)
        #expect(state.contains(#""count":\#(Self.stepsCount * 26)"#), "\(state)")
        if Self.stepsCount > 4 {
            let sorted = times.sorted().map { $0.wholeMilliseconds }
            print("\(setting): from a step-down to an event of the successor: \(sorted) ms")
        }
        await sender.close()
        for process in [second.process, first.process] {
            process.terminate()
            #expect(await process.wait(within: .seconds(20)) == .exited(0))
        }
    }
}
