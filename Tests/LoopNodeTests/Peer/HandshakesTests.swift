import Glibc
import LoopKeys
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

@Suite(.timeLimit(.minutes(2))) struct `Handshakes of a client` {
    private let keys: PeerKeys

    init() throws { keys = PeerKeys(own: try KeyPair(), reducer: try KeyPair().publicKey) }

    private func handshakes(_ keys: PeerKeys?, _ events: [SocketEvent]) -> Handshakes {
        var handshakes = Handshakes(keys: keys)
        for event in events { handshakes.take(event) }
        return handshakes
    }

    private let ended: [SocketEvent] = [
        .other, .connected, .handshakeFailed(.noDetail(code: EPIPE)), .connectRetried,
    ]
    private let refused: [SocketEvent] = [.other, .closed(descriptor: 7), .connectRetried]

    @Test func `that end without a reason say nothing of keys`() {
        for keys in [nil, keys] {
            #expect(handshakes(keys, ended + ended).obstacle == nil)
            #expect(handshakes(keys, ended + ended + ended).obstacle == .ended)
        }
    }

    @Test func `that succeed before the connection ends, again and again, show that the other side ends them`() {
        let one: [SocketEvent] = [.connected, .handshakeSucceeded, .disconnected(descriptor: 7), .connectRetried]
        #expect(handshakes(nil, one + one).obstacle == nil)
        #expect(handshakes(nil, one + one + one).obstacle == .ended)
        #expect(handshakes(nil, one + one + one + [.connected, .handshakeSucceeded]).obstacle == nil)
        #expect(handshakes(nil, one + one + refused + one).obstacle == nil)
    }

    @Test func `say nothing of what listened there once, when nothing does any more`() {
        #expect(handshakes(keys, ended + ended + ended + refused).obstacle == nil)
        #expect(handshakes(keys, ended + ended + refused + ended).obstacle == nil)
        let mismatch: [SocketEvent] = [.connected, .handshakeFailed(.mechanismMismatch)]
        #expect(handshakes(keys, mismatch).obstacle == .reducerWithoutKeys)
        #expect(handshakes(nil, mismatch).obstacle == .keysNeeded)
        #expect(handshakes(nil, [.handshakeFailed(.mechanismMismatch)] + refused).obstacle == nil)
    }

    /// What a look finds that gives a greeting all the time that it needs.
    private func obstacle(at reducer: ReducerAddress, isEnding: Bool = false) -> ReducerWait.Obstacle {
        AddressLook.obstacle(at: reducer, isEnding: isEnding, greetingWithin: .seconds(20))
    }

    @Test func `are explained by the greeting of what listens there`() throws {
        let context = try ZMQContext()
        var plain = try Socket(.router, in: context)
        let place = try ReducerAddress(parsing: plain.bind("tcp://127.0.0.1:*"))
        #expect(obstacle(at: place) == .unanswered)
        #expect(obstacle(at: place.with(keys)) == .handshakes(.reducerWithoutKeys))
        let guarded = try ZMQContext(authenticator: { _ in .refuse })
        var options = SocketOptions()
        options.security = .server(secretKey: keys.own.secretKey, domain: "d")
        var server = try Socket(.router, in: guarded, options: options)
        let other = try ReducerAddress(parsing: server.bind("tcp://127.0.0.1:*"))
        #expect(obstacle(at: other) == .handshakes(.keysNeeded))
        // Only after three connections is it known that each one is ended.
        switch obstacle(at: other.with(keys)) {
        case .unanswered: break
        case .refused(let why): #expect(why.contains("not the key \(keys.reducer)"))
        case let found: Issue.record("it is \(found)")
        }
        #expect(obstacle(at: other.with(keys), isEnding: true) == .handshakes(.otherReducerKey(keys.reducer)))
    }

    @Test(
        arguments: [
            ([], true, Greeting.cutShort), ([], false, .none), ([0xFF, 0], true, .cutShort),
            ([0xFF, 0], false, .none),
            (Array("HTTP/1.1 400".utf8), true, .foreign), ([UInt8](repeating: 0xFF, count: 64), false, .foreign),
        ] as [([UInt8], Bool, Greeting)])
    func `read a greeting for what it is`(bytes: [UInt8], hasEnded: Bool, greeting: Greeting) {
        #expect(Greeting(bytes, hasEnded: hasEnded) == greeting)
    }
}
