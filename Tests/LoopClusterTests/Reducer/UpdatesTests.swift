import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `Updates alone` {
    private let stream = UpdateStream(.full)

    private func published(_ bench: inout PartBench, _ updates: inout Updates) -> [Outbound] {
        updates.publish(bench.journaled, &bench.turn, bench.context)
        defer { bench.turn.beginNextTurn() }
        return bench.turn.messages
    }

    @Test func `publish a state to those who follow it, once`() throws {
        var bench = try PartBench()
        var updates = Updates()
        #expect(published(&bench, &updates) == [])
        var subscriptions = Subscriptions()
        subscriptions.streams = [stream]
        updates.follow(subscriptions, bench.journaled, &bench.turn, bench.context)
        let state = try bench.journaled.fold.encodedState()
        let topic = Topic.updates(bench.journaled.loop.id, stream)
        let first = Outbound.publish(topic, bench.frame(.update(.initial, state: state)))
        #expect(published(&bench, &updates) == [first])
        #expect(published(&bench, &updates) == [])
        // A new subscriber is shown the same state.
        updates.publishAgain(stream)
        bench.pass(100)
        #expect(published(&bench, &updates) == [first])
    }

    @Test func `wait for their interval`() throws {
        var bench = try PartBench()
        var updates = Updates()
        var subscriptions = Subscriptions()
        subscriptions.streams = [stream]
        updates.follow(subscriptions, bench.journaled, &bench.turn, bench.context)
        _ = published(&bench, &updates)
        try bench.apply(.note)
        #expect(published(&bench, &updates) == [])
        #expect(updates.deadline(bench.journaled.seq) == bench.now + .milliseconds(100))
        updates.hurry()
        #expect(published(&bench, &updates).count == 1)
    }

    @Test func `answer a question for a state with its parts, and refuse a section that is not there`() throws {
        var bench = try PartBench()
        var updates = Updates()
        let route = ReducerBench.route(alice)
        func ask(_ name: String) -> [Outbound] {
            let request = StateRequest(transfer: 0, part: 0, form: .whole, name: name, interval: nil, route: route)
            updates.answer(request, bench.journaled, &bench.turn, bench.context)
            defer { bench.turn.beginNextTurn() }
            return bench.turn.messages
        }
        let state = try bench.journaled.fold.encodedState()
        let part = StatePart(transfer: 1, seq: .initial, part: 0, end: .state, bytes: state)
        #expect(ask("") == [.reply(route, bench.frame(.statePart(part)))])
        #expect(ask("attic") == [.reply(route, bench.frame(.refused(Refused(.section, reducer: "", peer: "attic"))))])
    }

    @Test func `have a large state encoded elsewhere, and answer when it is there`() throws {
        var configuration = ReducerConfiguration()
        configuration.hashedBytesMax = 0
        var bench = try PartBench(configuration: configuration)
        var updates = Updates()
        updates.encodings.note(size: 1, of: nil)
        let route = ReducerBench.route(alice)
        let request = StateRequest(transfer: 0, part: 0, form: .whole, name: "", interval: nil, route: route)
        updates.answer(request, bench.journaled, &bench.turn, bench.context)
        #expect(bench.turn.messages == [])
        let result = try #require(bench.turn.backgroundJobs.first).run()
        guard case .encoding(let chunks) = result.outcome else {
            Issue.record("\(result.outcome) is not an encoded state")
            return
        }
        updates.continueTransfer(result.number, chunks, &bench.turn, bench.context)
        #expect(bench.turn.messages.map(\.route) == [route])
    }
}

@Suite struct `The feed of events` {
    @Test func `keeps what is published while observers follow, and for a moment after`() throws {
        var bench = try PartBench()
        var encodings = StateEncodings()
        var feed = EventFeed()
        var subscriptions = Subscriptions()
        #expect(!feed.keepsNotes)
        subscriptions.hasEvents = true
        feed.follow(subscriptions, from: bench.journaled.seq, at: bench.now)
        let record = try bench.apply(.note)
        feed.note(record)
        feed.publish(&encodings, sharers: 1, bench.journaled, &bench.turn, bench.context)
        let note = TransitionNote(
            seq: Seq(1), time: record.time, session: .none, effect: nil, event: Array(record.bytes))
        let topic = Topic.events(bench.journaled.loop.id, fingerprint: bench.journaled.loop.fingerprint.value)
        #expect(bench.turn.messages == [.publish(topic, bench.frame(.transitions([note])))])
        #expect(feed.transitions(after: .initial) == [note])
        feed.follow(Subscriptions(), from: bench.journaled.seq, at: bench.now)
        #expect(feed.keepsNotes)
        bench.pass(10_000)
        feed.note(try bench.apply(.note))
        feed.publish(&encodings, sharers: 1, bench.journaled, &bench.turn, bench.context)
        #expect(!feed.keepsNotes && feed.transitions(after: .initial) == [])
    }
}

extension Outbound {
    /// Where a reply goes.
    fileprivate var route: Route? { if case .reply(let route, _) = self { route } else { nil } }
}
