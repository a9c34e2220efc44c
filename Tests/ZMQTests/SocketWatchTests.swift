import Glibc
import LoopKeys
import Synchronization
import Testing

@testable import ZMQ

@Suite(.timeLimit(.minutes(1))) struct `A watch of sockets` {
    private final class Log: Sendable {
        private let events = Mutex<[String]>([])
        let pulses = Atomic(0)

        func add(_ text: String) { events.withLock { $0.append(text) } }

        var count: Int { events.withLock { $0.count } }

        /// Waits until it has been told something.
        func wait(for text: String) { while !events.withLock({ $0.contains(text) }) { usleep(1000) } }
    }

    @Test func `tells what happens at each of them while their thread does something else`() throws {
        let guarded = try Guarded()
        var pull = try Socket(.pull, in: guarded.context)
        var router = try Socket(.router, in: guarded.context)
        let watch = try SocketWatch()
        try watch.add(pull)
        try watch.add(router)
        let log = Log()
        try watch.start(
            "watch",
            tell: { number, event in
                switch event {
                case .accepted: log.add("\(number) accepted")
                case .disconnected: log.add("\(number) disconnected")
                default: break
                }
            },
            pulse: {
                log.pulses.add(1, ordering: .relaxed)
                return 1
            })
        let endpoints = (try pull.bind("tcp://127.0.0.1:*"), try router.bind("tcp://127.0.0.1:*"))
        let first: ForeignPeer? = try ForeignPeer(endpoints.0)
        log.wait(for: "0 accepted")
        let second: ForeignPeer? = try ForeignPeer(endpoints.1)
        log.wait(for: "1 accepted")
        first?.hangUp()
        log.wait(for: "0 disconnected")
        second?.hangUp()
        log.wait(for: "1 disconnected")
        let pulses = log.pulses.load(ordering: .relaxed)
        while log.pulses.load(ordering: .relaxed) == pulses { usleep(1000) }
        watch.stop()
        let last = log.pulses.load(ordering: .relaxed)
        watch.stop()
        #expect(log.pulses.load(ordering: .relaxed) == last, "no call after its end")
    }

    @Test func `is not called before its time however much happens`() throws {
        let guarded = try Guarded()
        var pull = try Socket(.pull, in: guarded.context)
        let watch = try SocketWatch()
        try watch.add(pull)
        let log = Log()
        try watch.start(
            "watch",
            tell: { _, event in
                if case .disconnected = event { log.add("\(log.pulses.load(ordering: .relaxed))") }
            },
            pulse: {
                log.pulses.add(1, ordering: .relaxed)
                return 3_600_000
            })
        let endpoint = try pull.bind("tcp://127.0.0.1:*")
        for count in 1...20 {
            try ForeignPeer(endpoint).hangUp()
            while log.count < count { usleep(1000) }
        }
        watch.stop()
        #expect(log.pulses.load(ordering: .relaxed) == 1)
    }
}
