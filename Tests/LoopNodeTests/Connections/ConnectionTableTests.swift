import LoopCore
import LoopKeys
import Testing

@testable import Linux
@testable import LoopNode

@Suite struct `G10 a table of connections` {
    private typealias ID = ConnectionTable.ID

    private var table: ConnectionTable

    init() {
        var limits = ConnectionLimits()
        limits.connectionsMax = 3
        limits.firstMessageLimit = .seconds(5)
        limits.unfinishedBytesMax = 500
        limits.inputBytesMax = 1000
        limits.inputBytesTotal = 2500
        limits.subscriptionBytesMax = 200
        limits.answerBytesMax = 1000
        limits.answerBytesTotal = 2500
        table = ConnectionTable(limits: limits)
    }

    private func id(_ descriptor: Int32, _ socket: ReducerSocket = .router) -> ID {
        ID(socket: socket, descriptor: descriptor)
    }

    private func time(_ seconds: Int64) -> MonotonicTime { .zero + .seconds(seconds) }

    private func traffic(received: UInt64 = 0, acknowledged: UInt64 = 0, unread: UInt64 = 0) -> Connections.Traffic {
        Connections.Traffic(receivedBytes: received, acknowledgedBytes: acknowledged, unreadBytes: unread)
    }

    // MARK: How many

    @Test mutating func `ends the one that was silent for the longest where one more comes`() {
        #expect(table.open(id(1), at: time(1)) == nil)
        #expect(table.open(id(2), at: time(2)) == nil)
        #expect(table.open(id(3), at: time(3)) == nil)
        table.hear(id(1), nil, route: nil, byteCount: 10, at: time(3))
        #expect(table.open(id(4), at: time(4)) == id(2))
        // It is still there until it is said to have ended, and is ended once.
        #expect(table.open(id(5), at: time(5)) == id(3))
        table.close(id(2))
        table.close(id(3))
        #expect(table.count == 3)
        #expect(table.open(id(6), at: time(6)) == id(4))
    }

    @Test mutating func `ends the new one where all the others have spoken`() {
        for number: Int32 in 1...3 {
            #expect(table.open(id(number), at: time(1)) == nil)
            table.hear(id(number), nil, route: nil, byteCount: 10, at: time(1))
        }
        #expect(table.open(id(4), at: time(2)) == id(4))
    }

    @Test mutating func `takes a number that comes again for another connection, at any socket`() {
        #expect(table.open(id(1), at: time(1)) == nil)
        table.hear(id(1), nil, route: [7], byteCount: 10, at: time(1))
        #expect(table.open(id(1, .publisher), at: time(2)) == nil)
        #expect(table.count == 1)
        #expect(table[id(1)] == nil)
        #expect(table[id(1, .publisher)]?.hasSpoken == false)
    }

    @Test mutating func `counts what was read of a connection before it was told`() {
        table.hear(id(1), nil, route: nil, byteCount: 100, at: time(1))
        #expect(!table.isKnown(id(1)))
        #expect(table.open(id(1), at: time(1)) == nil)
        #expect(table.isKnown(id(1)))
        #expect(table[id(1)]?.deliveredBytes == 102)
    }

    @Test mutating func `keeps a connection that was found before it was told, and replaces one that was told`() {
        #expect(table.open(id(1), as: .found, at: time(1)) == nil)
        table.hear(id(1), nil, route: nil, byteCount: 100, at: time(1))
        #expect(table.open(id(1), at: time(2)) == nil)
        #expect(table[id(1)]?.deliveredBytes == 102)
        #expect(table.open(id(1), as: .found, at: time(2)) == nil)
        #expect(table[id(1)]?.standing == .accepted)
        #expect(table.open(id(1), at: time(3)) == nil)
        #expect(table[id(1)]?.deliveredBytes == 0)
        #expect(table.count == 1)
    }

    @Test mutating func `ends those that say nothing, but not at the collector`() {
        #expect(table.open(id(1), at: time(1)) == nil)
        #expect(table.open(id(2, .publisher), at: time(1)) == nil)
        #expect(table.open(id(3, .collector), at: time(1)) == nil)
        #expect(table.silentTooLong(at: time(5)) == [])
        table.hear(id(1), nil, route: nil, byteCount: 10, at: time(5))
        #expect(table.silentTooLong(at: time(6)) == [id(2, .publisher)])
        #expect(table.silentTooLong(at: time(100)) == [])
    }

    @Test mutating func `leaves many as they are while they come and go`() {
        for number: Int32 in 1...5000 {
            _ = table.open(id(number), at: time(Int64(number)))
            table.close(id(number))
        }
        #expect(table.silentTooLong(at: time(10_000)) == [])
        #expect(table.count == 0)
    }

    // MARK: What arrives

    @Test mutating func `ends a message that does not end, as soon as all others were read`() {
        let id = id(1, .collector)
        #expect(table.open(id, at: time(1)) == nil)
        #expect(table.look(id, traffic(received: 501)) == nil)
        table.drain(.router)
        #expect(table.look(id, traffic(received: 501)) == nil, "it may still be read")
        table.drain(.collector)
        #expect(table.look(id, traffic(received: 900)) == .input)
    }

    @Test mutating func `counts a message as it was on the wire, so that many do not hide one that does not end`() {
        #expect(ConnectionTable.wireBytes(ofMessage: 255, isEncrypted: false) == 257)
        #expect(ConnectionTable.wireBytes(ofMessage: 256, isEncrypted: false) == 265)
        #expect(ConnectionTable.wireBytes(ofMessage: 1, isEncrypted: true) == 36)
        #expect(ConnectionTable.wireBytes(ofMessage: 223, isEncrypted: true) == 265)
        let id = id(1, .collector)
        #expect(table.open(id, at: time(1)) == nil)
        for _ in 0..<1000 { table.hear(id, nil, route: nil, byteCount: 8, at: time(1)) }
        #expect(table.look(id, traffic(received: 10_500)) == nil)
        table.drain(.collector)
        #expect(table.look(id, traffic(received: 10_501)) == nil, "500 are allowed")
        table.drain(.collector)
        #expect(table.look(id, traffic(received: 10_501)) == .input)
    }

    @Test mutating func `ends what arrives while nothing is read, beyond a limit`() {
        #expect(table.open(id(1, .collector), at: time(1)) == nil)
        #expect(table.look(id(1, .collector), traffic(received: 1000)) == nil)
        // What the reducer reads, and what waits in the system, is not held.
        table.hear(id(1, .collector), nil, route: nil, byteCount: 991, at: time(1))
        #expect(table.look(id(1, .collector), traffic(received: 3000, unread: 1000)) == nil)
        #expect(table.waitingBytes == 1000)
        #expect(table.look(id(1, .collector), traffic(received: 3001, unread: 1000)) == .input)
        #expect(table.look(id(1, .collector), traffic(received: 9000)) == nil, "it ends once")
        table.close(id(1, .collector))
        #expect(table.waitingBytes == 0)
    }

    @Test mutating func `ends a subscriber whose subscriptions take too much, although they were read`() {
        let id = id(1, .publisher)
        #expect(table.open(id, at: time(1)) == nil)
        table.hear(id, nil, route: nil, byteCount: 98, at: time(1))
        #expect(table.look(id, traffic(received: 200)) == nil)
        #expect(table.look(id, traffic(received: 201)) == .input)
    }

    @Test mutating func `ends the largest where all together are too large`() {
        for number: Int32 in 1...3 {
            #expect(table.open(id(number), at: time(1)) == nil)
            #expect(table.look(id(number), traffic(received: 700 + UInt64(number))) == nil)
        }
        #expect(table.largest() == nil)
        for number: Int32 in 1...3 { #expect(table.look(id(number), traffic(received: 900 + UInt64(number))) == nil) }
        let first = table.largest()
        #expect(first?.id == id(3) && first?.offence == .input)
        table.close(id(3))
        #expect(table.largest() == nil)
    }

    // MARK: What is sent

    @Test mutating func `looks at a connection before it is said not to read its answers`() {
        #expect(table.open(id(1), at: time(1)) == nil)
        table.hear(id(1), nil, route: [7], byteCount: 10, at: time(1))
        #expect(table.verdict(onAnswerTo: [7], byteCount: 600) == .send)
        table.answer([7], byteCount: 600)
        #expect(table.verdict(onAnswerTo: [7], byteCount: 600) == .look(id(1)))
        #expect(table.look(id(1), traffic(received: 100, acknowledged: 500)) == nil)
        #expect(table.verdict(onAnswerTo: [7], byteCount: 600) == .send)
        table.answer([7], byteCount: 600)
        #expect(table.unreadBytes == 700)
        table.answer([7], byteCount: 300)
        #expect(table.look(id(1), traffic(received: 100, acknowledged: 500)) == nil)
        table.answer([7], byteCount: 1)
        #expect(table.look(id(1), traffic(received: 100, acknowledged: 500)) == .unreadAnswers)
        table.close(id(1))
        #expect(table.unreadBytes == 0)
    }

    @Test mutating func `gives no answer while too much is on its way to all`() {
        for number: UInt8 in 1...3 {
            #expect(table.open(id(Int32(number)), at: time(1)) == nil)
            table.hear(id(Int32(number)), nil, route: [number], byteCount: 10, at: time(1))
            #expect(table.look(id(Int32(number)), traffic()) == nil)
            table.answer([number], byteCount: 800 + Int(number))
        }
        #expect(table.verdict(onAnswerTo: [1], byteCount: 100) == .drop)
        #expect(table.verdict(onAnswerTo: [9], byteCount: 100) == .drop)
        table.answer([3], byteCount: 150)
        let largest = table.largest()
        #expect(largest?.id == id(3) && largest?.offence == .unreadAnswers)
    }

    @Test mutating func `judges no connection of which the system counts nothing`() {
        #expect(table.open(id(1), at: time(1)) == nil)
        table.hear(id(1), nil, route: [7], byteCount: 10, at: time(1))
        #expect(table.look(id(1), nil) == nil)
        for _ in 0..<5 {
            #expect(table.verdict(onAnswerTo: [7], byteCount: 900) == .send)
            table.answer([7], byteCount: 900)
        }
        #expect(table.look(id(1), nil) == nil)
        #expect(table.unreadBytes == 0)
    }

    // MARK: Whose they are

    @Test mutating func `knows each key that a number was heard with`() throws {
        let (one, other) = (Self.key(1), Self.key(2))
        #expect(table.open(id(1), at: time(1)) == nil)
        table.hear(id(1), one, route: nil, byteCount: 10, at: time(1))
        table.hear(id(1), other, route: nil, byteCount: 10, at: time(1))
        table.hear(id(2), other, route: nil, byteCount: 10, at: time(1))
        #expect(table.ids(of: [one]) == [id(1)])
        #expect(Set(table.ids(of: [other])) == [id(1), id(2)])
    }

    private static func key(_ number: UInt8) -> PublicKey {
        guard let key = PublicKey(bytes: [UInt8](repeating: number, count: 32)) else {
            preconditionFailure("32 bytes are a key")
        }
        return key
    }
}

@Suite struct `Limits of connections` {
    @Test func `stay below the limit of open files`() {
        var limits = ConnectionLimits()
        limits.connectionsMax = 500
        #expect(limits.within(descriptors: 1024).connectionsMax == 500)
        #expect(ConnectionLimits().within(descriptors: 1024).connectionsMax == 896)
        #expect(ConnectionLimits().within(descriptors: 65_536).connectionsMax == 3072)
        #expect(ConnectionLimits().within(descriptors: 256).connectionsMax == 192)
        #expect(ConnectionLimits().within(descriptors: 20).connectionsMax == 8)
    }
}
