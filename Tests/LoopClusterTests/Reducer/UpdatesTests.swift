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
        let state = try bench.journaled.loopState.encodedState()
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
        let state = try bench.journaled.loopState.encodedState()
        let part = StatePart(transfer: 1, seq: .initial, part: 0, end: .state, bytes: state)
        #expect(ask("") == [.reply(route, bench.frame(.statePart(part)))])
        #expect(
            ask("attic") == [
                .reply(
                    route, bench.frame(.refused(Refused(.section, reducer: "", peer: "attic"), to: .state(transfer: 0)))
                )
            ])
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

@Suite struct `Transfers of the state` {
    private func route(_ index: Int) -> Route { .router([UInt8(index)]) }

    /// Parts of a byte each: the state has several.
    private func bench(atOnce count: Int = 4) throws -> PartBench {
        var configuration = ReducerConfiguration()
        configuration.statePartBytes = 4
        configuration.transfersMax = count
        return try PartBench(configuration: configuration)
    }

    private func ask(
        _ bench: inout PartBench, _ updates: inout Updates, _ transfer: UInt64, part: UInt64, _ observer: Int
    ) -> ToPeer? {
        let request = StateRequest(
            transfer: transfer, part: part, form: .whole, name: "", interval: nil, route: route(observer))
        updates.answer(request, bench.journaled, &bench.turn, bench.context)
        defer { bench.turn.beginNextTurn() }
        guard case .reply(_, let frame)? = bench.turn.messages.first else { return nil }
        return frame.message
    }

    /// Fetches the whole state.
    /// - Returns: the number of its transfer; nil if the reducer was busy.
    private func fetch(_ bench: inout PartBench, _ updates: inout Updates, _ observer: Int) -> UInt64? {
        guard case .statePart(var part)? = ask(&bench, &updates, 0, part: 0, observer) else { return nil }
        while part.end != .state {
            guard case .statePart(let next)? = ask(&bench, &updates, part.transfer, part: part.part + 1, observer)
            else { return nil }
            part = next
        }
        return part.transfer
    }

    @Test func `that are over do not count, so an observer can fetch one state after the other`() throws {
        var bench = try bench(atOnce: 1)
        var updates = Updates()
        for count in 1...20 {
            try bench.apply(.note)
            bench.pass(1000)
            #expect(fetch(&bench, &updates, 1) == UInt64(count))
            #expect(updates.transfers.count == 1)
        }
        // What an observer had asked for ahead is answered for its transfer, and says so.
        guard case .busy(let question, _, let reason)? = ask(&bench, &updates, 1, part: 30, 1) else {
            Issue.record("a transfer that is over was taken for a new one")
            return
        }
        #expect(question == .state(transfer: 1) && reason == "transfer 1 is over: begin a new one")
    }

    @Test func `that are under way at once are as many as may be, and a fifth is told when to ask again`() throws {
        var bench = try bench()
        var updates = Updates()
        for observer in 1...4 {
            try bench.apply(.note)
            #expect(ask(&bench, &updates, 0, part: 0, observer) != nil)
            // What they ask again they have not got.
            bench.pass(1000)
            for other in 1...observer { _ = ask(&bench, &updates, UInt64(other), part: 0, other) }
        }
        try bench.apply(.note)
        let reason = "4 transfers of it are under way at once, as many as may"
        #expect(
            ask(&bench, &updates, 0, part: 0, 5)
                == .busy(to: .state(transfer: 0), retryAfter: .seconds(1), reason: reason))
        // Of the first two nothing is heard any more.
        bench.pass(1400)
        for transfer in 3...4 { _ = ask(&bench, &updates, UInt64(transfer), part: 0, transfer) }
        #expect(
            ask(&bench, &updates, 0, part: 0, 5)
                == .busy(to: .state(transfer: 0), retryAfter: .milliseconds(600), reason: reason))
        bench.pass(600)
        #expect(fetch(&bench, &updates, 5) == 5)
    }

    @Test func `whose last part was lost are begun again`() throws {
        var bench = try bench()
        var updates = Updates()
        for _ in 1...5 {
            try bench.apply(.note)
            bench.pass(1000)
            _ = fetch(&bench, &updates, 1)
        }
        var observer = ObserverMachine(.wholeStates, at: .zero)
        let epoch = bench.journaled.epoch
        func hear(_ message: ToPeer, at time: MonotonicTime) {
            observer.receiveReply(
                PeerFrame(history: bench.journaled.history, epoch: epoch, session: .none, message: message), at: time)
        }
        hear(.statePart(StatePart(transfer: 1, seq: Seq(1), part: 0, end: .nothing, bytes: [1])), at: .zero)
        _ = observer.takeRest()
        // Of another transfer it wants to hear nothing.
        hear(.busy(to: .state(transfer: 7), retryAfter: .seconds(9), reason: "over"), at: .zero)
        observer.advance(to: .zero + .milliseconds(300))
        #expect(observer.takeRest().first == .send(.stateRequest(transfer: 1, part: 1)))
        let over = try #require(ask(&bench, &updates, 1, part: 1, 1))
        hear(over, at: .zero + .milliseconds(300))
        observer.advance(to: .zero + .milliseconds(400))
        #expect(observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0))])
    }
}

@Suite struct `The feed of events` {
    @Test func `publishes the transitions of a turn once`() throws {
        var bench = try PartBench()
        var feed = EventFeed()
        let record = try bench.apply(.note)
        feed.note(record)
        for _ in 0..<2 { feed.publish(bench.journaled, &bench.turn) }
        let note = TransitionNote(
            seq: Seq(1), time: record.time, session: .none, effect: nil, event: Array(record.bytes))
        let topic = Topic.transitions(bench.journaled.loop.id)
        #expect(bench.turn.messages == [.publish(topic, bench.frame(.transitions([note])))])
    }
}

extension Outbound {
    /// Where a reply goes.
    fileprivate var route: Route? { if case .reply(let route, _) = self { route } else { nil } }
}
