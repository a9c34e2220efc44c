import LoopCore
import LoopWire
import Testing

@testable import LoopSimulation

@Suite struct `The sockets of a simulated process` {
    private func frame(_ number: UInt64, session: SessionID = .none) -> PeerFrame {
        PeerFrame(history: History(1), epoch: .none, session: session, message: .serverHeartbeat(Seq(number)))
    }

    @Test func `deliver one connection's messages in order, and none before a stall is over`() {
        var connections = Connections<Int>()
        #expect(connections.append(1, arrival: 10) == nil)
        connections.pipes.append(Pipe())
        #expect(connections.append(1, arrival: 10) == 10)
        connections.append(2, arrival: 5)
        connections.stallPresent(until: 20)
        #expect(connections.readableCount(at: 19) == 0)
        #expect(connections.readableAt == 20)
        #expect([connections.popFirst(0, at: 20), connections.popFirst(0, at: 20)] == [1, 2])
        #expect(connections.isEmpty)
        #expect(connections.readableAt == .max)
    }

    @Test func `choose among the connections that can be read, and forget earlier ones that are empty`() {
        var connections = Connections<Int>(pipes: [Pipe(), Pipe(), Pipe()])
        _ = connections.append(1, arrival: 50, over: 0)
        _ = connections.append(2, arrival: 0, over: 1)
        _ = connections.append(3, arrival: 0, over: 2)
        #expect(connections.readableCount(at: 10) == 2)
        #expect(connections.popFirst(1, at: 10) == 3)
        #expect(connections.popFirst(0, at: 10) == 2)
        connections.dropEmpty()
        #expect(connections.pipes.map(\.count) == [1, 0])
    }

    @Test func `lose the middle of what a cut connection carries`() throws {
        var dice = SeededRandom(seed: 4)
        var connections = Connections<Int>(pipes: [Pipe()])
        for number in 0..<100 { connections.append(number, arrival: 0) }
        let cut = connections.cutPresent(&dice)
        var rest = try #require(cut)
        let (kept, moved) = (connections.pipes[0].count, rest.count)
        #expect(kept + moved < 100)
        #expect((0..<kept).map { _ in connections.popFirst(0, at: 0) } == (0..<kept).map { $0 })
        #expect((0..<moved).map { _ in rest.popFirst() } == (100 - moved..<100).map { $0 })
    }

    @Test
    func `drop what is published before the subscription is known, in a burst, to a dead socket, and to a full one`() {
        var subscriber = SubscriberSocket()
        #expect(subscriber.dropsNext(at: 0, holding: 2) == true)
        subscriber.connect(knownFrom: 10)
        #expect(subscriber.dropsNext(at: 9, holding: 2) == true)
        #expect(subscriber.takeNews(at: 9) == false)
        #expect(subscriber.takeNews(at: 10) == true)
        #expect(subscriber.takeNews(at: 10) == false)
        subscriber.dropCount = 2
        #expect((0..<3).map { _ in subscriber.dropsNext(at: 10, holding: 2) } == [true, true, false])
        subscriber.isDead = true
        #expect(subscriber.dropsNext(at: 10, holding: 2) == true)
        subscriber.connect(knownFrom: 20)
        for number in 0..<2 as Range<UInt64> { subscriber.connections.append(frame(number), arrival: 0) }
        #expect(subscriber.dropsNext(at: 20, holding: 2) == true)
    }

    @Test func `bring words of an earlier session back once, when there is a newer one`() {
        var subscriber = SubscriberSocket()
        subscriber.connect(knownFrom: 0)
        subscriber.hearsEarlierSession = true
        let first = frame(1, session: SessionID(1))
        #expect(subscriber.keep(first) == nil)
        #expect(subscriber.keep(frame(2, session: SessionID(2))) == [first])
        #expect(subscriber.keep(frame(3, session: SessionID(3))) == nil)
    }

    @Test func `hold back one direction in a partition, until it heals`() {
        var sockets = PeerSockets()
        sockets.subscriber.connect(knownFrom: 0)
        var random = SeededRandom(seed: 1)
        sockets.pusher.rebuild(at: 0, &random)
        sockets.subscriber.connections.append(frame(1), arrival: 1)
        sockets.dealer.toReducer.append(.statusRequest, arrival: 2)
        sockets.cut(.fromReducer, until: 100)
        #expect(sockets.readableAt == 100)
        #expect(sockets.readableAtReducer == 2)
        sockets.heal()
        #expect(sockets.readableAt == 1)
        #expect(sockets.cutFromReducerUntil == 0)
    }

    @Test func `come back under another routing id with nothing under way`() {
        var dealer = DealerSocket()
        dealer.reconnect(as: 1)
        dealer.toReducer.append(.statusRequest, arrival: 0)
        dealer.reconnect(as: 0x0203)
        #expect(dealer.route == [3, 2, 0, 0, 0, 0, 0, 0])
        #expect(dealer.toReducer.isEmpty)
    }

    @Test func `deliver nothing while the collector is lost, also over a new socket`() {
        var random = SeededRandom(seed: 1)
        var pusher = PusherSocket()
        pusher.lostUntil = 10
        pusher.rebuild(at: 9, &random)
        #expect(pusher.isDead)
        pusher.rebuild(at: 10, &random)
        #expect(!pusher.isDead)
        #expect(pusher.connections.pipes.count == 1)
    }
}
