import CBOR
import Glibc
import LoopCollections
import LoopCore
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

/// A loop that counts what is put into it.
struct Puts: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var count = 0
    }

    enum Event: Codable, Sendable {
        case put(Int)
    }

    static let name = "puts"
    let initial = State()
    let feedbacks: [Feedback<State, Event>] = []

    func reduce(into state: inout State, _ event: Event, _: Transition) { state.count += 1 }
}

/// A program: sends a number of events, and returns from its main, which exits.
private func program(_ address: String, _ count: Int, outbox: String? = nil, stopLimit: Duration = .seconds(5))
    async throws
    -> Never
{
    try await send(address, count, outbox, stopLimit)
    exit(0)
}

private func send(_ address: String, _ count: Int, _ outbox: String?, _ stopLimit: Duration) async throws {
    let loop = try RemoteLoop(
        Puts.self, reducer: ReducerAddress(parsing: address), outbox: outbox, stopLimit: stopLimit)
    for number in 0..<count { try await loop.send(.put(number)) }
}

/// What `send` has accepted leaves also when its process or its handle goes at once.
@Suite(.timeLimit(.minutes(2))) struct `What a handle has accepted` {
    private let address = ipcAddress()
    /// Long enough for a machine that does much else: the limit itself is tested by what meets it.
    private static let ample = Duration.seconds(60)

    /// Runs the body beside a reducer.
    /// - Returns: how many events were applied at the end.
    private func applied(by body: () async throws -> Void) async throws -> UInt64 {
        let node = try ReducerNode(
            Puts(),
            configuration: ReducerNodeConfiguration(bind: try BindAddress(address), journal: .memory, log: .silent))
        let run = Task { try await node.run() }
        try await body()
        let address = address
        let seq = try await NodeThread.run("probe") { try StatusProbe.ask(address, within: .seconds(30)).seq }
        node.stop()
        _ = try await run.value
        return seq
    }

    @Test func `is applied when the process returns from main at once`() async throws {
        let address = address
        let count = try await applied {
            await #expect(processExitsWith: .exitCode(0)) { [address = address.description as String] in
                try await program(address, 50, stopLimit: Self.ample)
            }
        }
        #expect(count == 50)
    }

    @Test func `is applied when the process exits and still has the handle`() async throws {
        let address = address
        let count = try await applied {
            await #expect(processExitsWith: .exitCode(3)) { [address = address.description as String] in
                let loop = try RemoteLoop(Puts.self, reducer: ReducerAddress(parsing: address), stopLimit: Self.ample)
                for number in 0..<50 { try await loop.send(.put(number)) }
                withExtendedLifetime(loop) { exit(3) }
            }
        }
        #expect(count == 50)
    }

    @Test func `is reported at the exit if no reducer takes it`() async throws {
        let address = address
        let result = try await #require(processExitsWith: .exitCode(0), observing: [\.standardErrorContent]) {
            [address = address.description as String] in
            try await program(address, 50, stopLimit: .milliseconds(300))
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            text.contains(
                "50 events were not sent to \(address) within 0.3 seconds and are lost: "
                    + "put, put, put, …"), "\(text)")
    }

    @Test func `is in the outbox file at the exit where there is one`() async throws {
        let address = address
        let folder = TestFolder()
        let path = "\(folder.path)/outbox"
        let result = try await #require(processExitsWith: .exitCode(0), observing: [\.standardErrorContent]) {
            [address = address.description as String, path = path as String] in
            try await program(address, 3, outbox: path, stopLimit: .milliseconds(100))
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("3 events stay in \(path), and leave when it is opened again"), "\(text)")
    }

    @Test func `is applied when a scope ends, also by an error`() async throws {
        let address = address
        struct Stop: Error {}
        let count = try await applied {
            let result = try await withRemoteLoop(Puts.self, reducer: address, stopLimit: Self.ample) { loop in
                for number in 0..<50 { try await loop.send(.put(number)) }
                return "done"
            }
            #expect(result == "done")
            await #expect(throws: Stop.self) {
                try await withRemoteLoop(Puts.self, reducer: address, stopLimit: Self.ample) { loop in
                    for number in 0..<50 { try await loop.send(.put(number)) }
                    throw Stop()
                }
            }
            let cancelled = Task {
                try await withRemoteLoop(Puts.self, reducer: address, stopLimit: Self.ample) { loop in
                    withUnsafeCurrentTask { $0?.cancel() }
                    for number in 0..<50 { try await loop.send(.put(number)) }
                    try Task.checkCancellation()
                }
            }
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
        #expect(count == 150)
    }

    @Test func `is reported when the handle is closed, and not where its sender waits for the outcome`() async throws {
        let lines = Locked<[String]>([])
        let loop = try RemoteLoop(
            Puts.self, reducer: address, stopLimit: .milliseconds(100),
            log: .lines { line in lines.withLock { $0.append(line) } })
        try await loop.send(.put(1))
        let waiting = Task { try await loop.sendAndConfirm(.put(2)) }
        try await loop.send(.put(3))
        await loop.close()
        await #expect(throws: SendRefusal.self) { try await waiting.value }
        await #expect(throws: SendRefusal.self) { try await loop.send(.put(4)) }
        let said = lines.withLock { $0 }
        #expect(
            said == [
                "observer: 2 events were not sent to \(address) within 0.1 seconds and are lost: "
                    + "put, put"
            ])
    }
}

@Suite struct `Events whose outcome is not known` {
    private func text(
        unsent: Int, sent: Int = 0, within limit: Duration? = .seconds(5), outbox: String? = nil
    ) throws -> String? {
        var events = UnsettledEvents()
        for number in 0..<sent { events.add(try CBOR.encode(Puts.Event.put(number)), isSent: true) }
        for number in 0..<unsent { events.add(try CBOR.encode(number), isSent: false) }
        return events.text(reducer: "tcp://r:1", within: limit, outbox: outbox)
    }

    @Test func `are told from those that were never sent, and named without their values`() throws {
        #expect(try text(unsent: 0) == nil)
        #expect(try text(unsent: 1) == "1 event was not sent to tcp://r:1 within 5.0 seconds and is lost: 0")
        #expect(try text(unsent: 2, within: nil) == "2 events were not sent to tcp://r:1 and are lost: 0, 1")
        #expect(
            try text(unsent: 0, sent: 1)
                == "1 event was sent to tcp://r:1, which did not say within 5.0 seconds whether it was applied: put")
        #expect(
            try text(unsent: 1, sent: 3)
                == "1 event was not sent to tcp://r:1 within 5.0 seconds and is lost; 3 events were sent to tcp://r:1,"
                + " which did not say within 5.0 seconds whether they were applied: put, put, put, …")
        #expect(try text(unsent: 1, outbox: "ob") == "1 event stays in ob, and leaves when it is opened again: 0")
    }
}
