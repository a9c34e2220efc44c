import CBOR
import Foundation
import LoopCluster
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing
import ZMQ

/// What docs/evolution.md shows is the file that is compiled here, and does what it says.
@Suite(.timeLimit(.minutes(5))) struct `The evolution of a definition` {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `the definition in the document is the one that is compiled`() throws {
        let example = try Self.text("Tests/LoopNodeTests/Clusters/EvolutionExample.swift")
        #expect(try Self.text("docs/evolution.md").contains("```swift\n\(example)```"))
    }

    @Test func `a worker of schema 1 goes on beside a reducer of schema 2`() async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://feeds"
        let reducer = try ReducerNode(Feeds(), configuration: .test(address, context))
        async let outcome = reducer.run()
        async let old = EffectNode(FirstFeeds(), configuration: .test(address, context, "old")).run()
        let sender = try RemoteLoop(FirstFeeds.self, reducer: address, context: context, log: .silent)
        try await sender.sendAndConfirm(.follow("https://example.org"))
        let observer = try RemoteLoop(Feeds.self, reducer: address, context: context, log: .silent)
        var read: Feeds.State?
        for await (_, state) in observer.states where state.unread.isEmpty && !state.items.isEmpty {
            read = state
            break
        }
        #expect(read?.items == ["https://example.org": 19])
        #expect(read?.summary == nil)
        async let new = EffectNode(Feeds(), configuration: .test(address, context, "new")).run()
        #expect(try await outcome == Outcome(text: "19 items"))
        #expect(try await old == .loopEnded(exitCode: 0, text: "19 items"))
        #expect(try await new == .loopEnded(exitCode: 0, text: "19 items"))
        await sender.close()
        await observer.close()
    }

    @Test func `a journal of schema 1 is taken over by schema 2`() throws {
        var first = JournaledState(definition: FirstFeeds(), coder: CBORCoder(), history: History(1))
        try first.apply(.definition(first.ownDefinition))
        let event = try CBOR.encode(FirstFeeds.Event.follow("https://example.org"))
        try first.apply(
            .event(
                EventRecord(
                    seq: Seq(1), time: WallTime(milliseconds: 1), session: SessionID(1), number: 1, effect: nil,
                    attempt: .none, wantsSeq: false, bytes: event[...])))
        var second = try JournaledState(
            restoring: try first.snapshot(), definition: Feeds(), coder: CBORCoder())
        #expect(
            second.state(of: Feeds()).unread == [
                "https://example.org": Feeds.Feed(address: "https://example.org", title: "https://example.org")
            ])
        #expect(try second.apply(.definition(second.ownDefinition)) == [])
        #expect(second.effects == first.effects && second.effects.count == 1)
    }

    /// A journal in which the first build has applied one event.
    private func disk(_ context: ZMQContext, _ address: ReducerAddress) async throws -> TestDisk {
        let disk = TestDisk()
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.journal = disk.place
        let first = try ReducerNode(FirstFeeds(), configuration: configuration)
        let life = Task { try await first.run() }
        let sender = try RemoteLoop(FirstFeeds.self, reducer: address, context: context, log: .silent)
        try await sender.sendAndConfirm(.follow("https://example.org"))
        await sender.close()
        first.stop()
        #expect(try await life.value == nil)
        return disk
    }

    private func outcome(
        on disk: TestDisk, _ context: ZMQContext, _ address: ReducerAddress
    ) async throws -> Outcome? {
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.journal = disk.place
        async let outcome = ReducerNode(Feeds(), configuration: configuration).run()
        async let worker = EffectNode(Feeds(), configuration: .test(address, context, "new")).run()
        let result = try await outcome
        _ = try await worker
        return result
    }

    @Test func `a reducer of schema 2 goes on with the journal of one of schema 1 that was stopped`() async throws {
        let (context, address) = (try ZMQContext(), ipcAddress())
        let disk = try await disk(context, address)
        #expect(disk.content.withLock { $0.snapshots.count } == 1)
        #expect(try await outcome(on: disk, context, address) == Outcome(text: "19 items"))
    }

    @Test func `and of one that was killed only where it is told to reinterpret, which is kept`() async throws {
        let (context, address) = (try ZMQContext(), ipcAddress())
        let disk = try await disk(context, address)
        disk.content.withLock { $0.snapshots = [] }
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.journal = disk.place
        do {
            _ = try await ReducerNode(Feeds(), configuration: configuration).run()
            Issue.record("it has started")
        } catch {
            #expect("\(error)".contains("event 1 was applied by another definition than this one"))
        }
        configuration.reinterprets = .always
        let second = try ReducerNode(Feeds(), configuration: configuration)
        let life = Task { try await second.run() }
        for await _ in disk.news where disk.content.withLock({ !$0.snapshots.isEmpty }) { break }
        // What a kill leaves: the snapshot that was written at once, and none of a graceful stop.
        let kept = disk.content.withLock { $0 }
        second.stop()
        _ = try await life.value
        disk.content.withLock { $0 = kept }
        #expect(try await outcome(on: disk, context, address) == Outcome(text: "19 items"))
    }

    @Test func `keys that are not Codable cannot be kept in a journal`() {
        struct Opaque: Hashable, Sendable {}
        struct Keyed: LoopDefinition {
            static let name = "keyed"
            let initial = 0
            func reduce(into state: inout Int, _ event: Int, _: Transition) { state += event }
            var feedbacks: [Feedback<Int, Int>] {
                [.react("work", requests: { [Opaque(): $0] }, effect: { (_: Int) in .none }).on(.workers)]
            }
        }
        do {
            _ = try ReducerNode(Keyed(), configuration: ReducerNodeConfiguration(bind: "inproc://keyed"))
            Issue.record("it was let in")
        } catch {
            #expect(
                "\(error)"
                    == "what the feedback \"work\" asks for cannot be kept in a journal: its keys are of type Opaque, which is"
                    + " not Codable")
        }
    }
}
