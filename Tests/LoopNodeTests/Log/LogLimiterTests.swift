import LoopCore
import LoopWire
import Testing

@testable import LoopCluster
@testable import LoopNode

@Suite struct `The limit of a log` {
    /// A limiter that expectations may ask.
    private final class Bench {
        var limiter = LogLimiter()
    }

    private let bench = Bench()

    private static func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    private func judge(
        _ peer: String, _ kind: LogKind = .joined, _ level: LogLevel = .info, at milliseconds: Int64 = 0
    ) -> Int? {
        bench.limiter.judge(LogLimiter.Key(kind: kind, peer: peer), level, at: Self.time(milliseconds))
    }

    @Test func `is one event a second for each kind and peer, and the next says how many were left out`() {
        #expect(judge("a") == 0)
        #expect(judge("a", at: 10) == nil)
        #expect(judge("a", at: 999) == nil)
        #expect(judge("a", .left, at: 999) == 0)
        #expect(judge("b", at: 999) == 0)
        #expect(judge("a", at: 1000) == 2)
        #expect(judge("a", at: 2000) == 0)
        #expect(bench.limiter.takeLeftOut(at: nil) == [])
    }

    @Test func `G11 is thirty-two a second of a kind for all peers together, and the others are counted`() {
        for peer in 0..<1000 { #expect(judge("\(peer)", at: Int64(peer)) == (peer < 32 ? 0 : nil)) }
        // Another kind has its own.
        #expect(judge("0", .lost, .warning, at: 999) == 0)
        #expect(bench.limiter.takeLeftOut(at: Self.time(999)) == [])
        let leftOut = bench.limiter.takeLeftOut(at: Self.time(1000))
        #expect(leftOut == [LogLimiter.LeftOut(kind: .joined, level: .info, count: 968)])
        #expect(leftOut.map(\.text) == ["and 968 more peers have joined in the last second"])
        #expect(!bench.limiter.hasLeftOut)
        #expect(judge("2000", at: 1000) == 0)
    }

    @Test func `loses no count if none is taken for a long time`() {
        for peer in 0..<33 { _ = judge("\(peer)") }
        for peer in 33..<40 { #expect(judge("\(peer)", at: 5000) == nil) }
        #expect(bench.limiter.takeLeftOut(at: Self.time(5000)).map(\.count) == [8])
        #expect(judge("40", at: 5000) == 0)
    }

    @Test func `tells what is left out of the present second when the node ends, as important as it was`() {
        for peer in 0..<34 { _ = judge("\(peer)", .left, .debug) }
        _ = judge("34", .left, .info)
        for peer in 0..<33 { _ = judge("\(peer)", .malformedFrame, .warning) }
        let leftOut = bench.limiter.takeLeftOut(at: nil)
        #expect(
            leftOut == [
                LogLimiter.LeftOut(kind: .left, level: .info, count: 3),
                LogLimiter.LeftOut(kind: .malformedFrame, level: .warning, count: 1),
            ])
        #expect(
            leftOut.map(\.text) == [
                "and 3 more peers have left in the last second",
                "and 1 more event of the kind malformedFrame in the last second",
            ])
    }

    @Test func `G10 keeps a bounded number of peers`() {
        for second in 0..<200 as Range<Int64> {
            for peer in 0..<100 { _ = judge("\(second) \(peer)", at: second * 1000) }
            _ = bench.limiter.takeLeftOut(at: Self.time(second * 1000 + 1000))
        }
        #expect(bench.limiter.peerCount <= 1024)
    }

    @Test func `is that of a node, which tells a flood in one line`() {
        let collector = LogCollector()
        let log = NodeLog(name: "reducer shop", collector.handler)
        for number in 0..<1000 as Range<UInt64> {
            let peer = NewsOfPeer(
                peer: PeerID(high: number << 32, low: 1), session: SessionID(number + 1), name: "", isWorker: true)
            log.tell(.joined(peer))
        }
        log.tellLeftOut(at: nil)
        let counts = collector.events.compactMap { event in
            event.fields.first { $0.name == "suppressed" }.flatMap { Int($0.value.description) }
        }
        // The clock is the system's: the flood may have lasted for more than a second.
        #expect(collector.events.count - counts.count + counts.reduce(0, +) == 1000)
        #expect(collector.events.count < 1000)
        #expect(collector.lines.last?.hasSuffix("more peers have joined in the last second") == true)
        #expect(collector.events.last?.level == .info)
    }

    @Test func `is that of failures, for each feedback`() {
        let collector = LogCollector()
        let log = NodeLog(name: "reducer shop", collector.handler)
        for number in 1...1000 as ClosedRange<UInt64> {
            for (place, feedback) in ["charge", "ship"].enumerated() {
                let failure = NewsOfFailure(
                    effect: EffectID(feedback: UInt32(place), seq: Seq(number), index: 0), feedback: feedback,
                    attempt: Attempt(epoch: 1, count: 1), failures: 1, reason: "no answer")
                log.tell(.effectFailed(failure, retryIn: .seconds(1)))
                log.tell(.parked(failure))
            }
        }
        let told = collector.events.prefix(4).map { event in
            "\(event.kind.rawValue) \(event.fields.contains(.feedback("charge")) ? "charge" : "ship")"
        }
        #expect(told == ["effectFailed charge", "parked charge", "effectFailed ship", "parked ship"])
        // The clock is the system's: the flood may have lasted for more than a second.
        #expect(collector.events.count < 4000)
    }
}
