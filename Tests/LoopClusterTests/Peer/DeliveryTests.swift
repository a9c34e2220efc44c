import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `A peer's delivery` {
    private let rules = BrokenRules()
    private let second = Duration.seconds(1)
    private var delivery = Delivery(
        PeerConfiguration(peer: alice, loop: "lamps", outboxEntriesMax: 4, outboxEntriesReserved: 1, outboxBytesMax: 64)
    )

    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    private func tick(_ received: UInt64, watermark: UInt64 = 0, at stamp: UInt64, resend: Bool = false) -> Tick {
        Tick(
            number: 0, watermark: watermark, received: received, stamp: stamp * 1_000_000, resend: resend)
    }

    /// Accepts entries at a time.
    private mutating func accept(_ count: Int, at milliseconds: Int64 = 0) {
        let run = EntryRun((0..<count).map { Entry(kind: .event, payload: [UInt8($0)]) })
        delivery.accept(run.indices, of: run, at: time(milliseconds))
    }

    /// The numbers of the entries that leave.
    private mutating func push() -> ClosedRange<UInt64>? {
        guard let (first, entries) = delivery.next() else { return nil }
        return first...first + UInt64(entries.count) - 1
    }

    private func acknowledgement(_ base: UInt64, _ watermark: UInt64) -> Acknowledgement {
        Acknowledgement(base: base, watermark: watermark, notable: [])
    }

    // MARK: Space

    @Test mutating func `takes events until its entries are full, and notices space once`() {
        accept(2)
        #expect(delivery.takesEvent(after: 0, bytes: 0, rules) == true)
        #expect(delivery.noticesSpace(rules) == false)
        #expect(delivery.takesEvent(after: 1, bytes: 0, rules) == false)
        #expect(delivery.takesEvent(after: 1, bytes: 0, BrokenRules([.outboxesAreBounded])) == true)
        accept(1)
        #expect(delivery.noticesSpace(rules) == false)
        _ = delivery.settle(upTo: 1, told: [], at: time(1))
        #expect(delivery.noticesSpace(rules) == true)
        #expect(delivery.noticesSpace(rules) == false)
    }

    @Test mutating func `takes events until its bytes are full`() {
        #expect(delivery.takesEvent(after: 0, bytes: 63, rules) == true)
        #expect(delivery.takesEvent(after: 0, bytes: 64, rules) == false)
    }

    @Test mutating func `keeps a part of a run`() {
        let run = EntryRun((0..<3).map { Entry(kind: .event, payload: [UInt8($0)]) })
        delivery.accept(1..<1, of: run, at: .zero)
        delivery.accept(1..<3, of: run, at: .zero)
        #expect(delivery.outbox.unsettled.map { Array($0.entry.payload) } == [[1], [2]])
    }

    // MARK: Sending again

    @Test mutating func `sends again what the socket did not take, or the reducer asks for`() {
        accept(3)
        #expect(push() == 1...3)
        delivery.goBack(before: 2)
        #expect(push() == 2...3)
        delivery.hear(tick(1, at: 1, resend: true), at: time(1), every: second, rules)
        #expect(push() == 2...3)
    }

    @Test mutating func `sends again what the reducer has not read for two of its ticks`() {
        accept(2)
        #expect(push() == 1...2)
        delivery.hear(tick(0, at: 1000), at: time(1000), every: second, rules)
        delivery.hear(tick(0, at: 2999), at: time(2999), every: second, rules)
        #expect(push() == nil)
        delivery.hear(tick(0, at: 3000), at: time(3000), every: second, rules)
        #expect(push() == 1...2)
        // It has left again only now.
        delivery.hear(tick(0, at: 4000), at: time(4000), every: second, rules)
        #expect(push() == nil)
    }

    @Test mutating func `does not take slowness for a loss`() {
        accept(2)
        #expect(push() == 1...2)
        delivery.hear(tick(0, at: 1000), at: time(1000), every: second, rules)
        delivery.hear(tick(1, at: 3000), at: time(3000), every: second, rules)
        #expect(push() == nil)
        delivery.hear(tick(1, at: 3001), at: time(3001), every: second, BrokenRules([.slownessIsNotLoss]))
        #expect(push() == 2...2)
    }

    @Test mutating func `is stuck without an outcome for the limit: three new sockets, then a new session`() {
        accept(1)
        for round in 1...4 {
            #expect(push() == 1...1)
            #expect(delivery.remedy(at: time(Int64(round) * 1001 - 1), after: second) == nil)
            let remedy = delivery.remedy(at: time(Int64(round) * 1001), after: second)
            #expect(remedy == (round < 4 ? .newSocket : .newSession))
        }
    }

    @Test mutating func `is stuck where the socket takes nothing at all`() {
        accept(2)
        _ = push()
        _ = delivery.settle(upTo: 1, told: [], at: time(500))
        delivery.goBack(before: 2)
        #expect(delivery.remedy(at: time(1500), after: second) == nil)
        #expect(delivery.remedy(at: time(1501), after: second) == .newSocket)
        _ = delivery.settle(upTo: 2, told: [], at: time(1600))
        #expect(delivery.remedy(at: time(9000), after: second) == nil)
    }

    @Test mutating func `is not stuck once an outcome is heard`() {
        accept(2)
        _ = push()
        #expect(delivery.remedy(at: time(1001), after: second) == .newSocket)
        _ = push()
        _ = delivery.settle(upTo: 1, told: [], at: time(1500))
        #expect(delivery.remedy(at: time(2500), after: second) == nil)
        for remedy in [Delivery.Remedy.newSocket, .newSocket, .newSocket, .newSession] {
            _ = push()
            #expect(delivery.remedy(at: time(99_000), after: .nanoseconds(-1)) == remedy)
        }
    }

    // MARK: Outcomes

    @Test mutating func `asks for outcomes that it has missed`() {
        accept(3)
        _ = push()
        #expect(delivery.takes(acknowledgement(0, 1), rules) == true)
        #expect(!delivery.needsOutcomes)
        #expect(delivery.takes(acknowledgement(1, 2), rules) == false)
        #expect(delivery.needsOutcomes)
        #expect(delivery.takes(acknowledgement(1, 2), BrokenRules([.acknowledgementsHaveABase])) == true)
        #expect(delivery.takesAnswer(acknowledgement(1, 2)) == false)
        #expect(delivery.needsOutcomes)
        #expect(delivery.takesAnswer(acknowledgement(0, 2)) == true)
        #expect(!delivery.needsOutcomes)
        delivery.hear(tick(1, watermark: 1, at: 1), at: time(1), every: second, rules)
        #expect(delivery.needsOutcomes)
    }

    @Test mutating func `asks for what was settled before it was admitted, and sends the rest again`() {
        accept(2)
        _ = push()
        delivery.admit(0, at: time(1))
        #expect(!delivery.needsOutcomes)
        #expect(push() == 1...2)
        delivery.admit(1, at: time(2))
        #expect(delivery.needsOutcomes)
    }

    @Test mutating func `notices numbers that never left here`() {
        accept(2)
        #expect(delivery.isForeign(1, rules) && !delivery.isForeign(1, BrokenRules([.foreignUseIsNoticed])))
        _ = push()
        #expect(!delivery.isForeign(2, rules) && delivery.isForeign(3, rules))
    }

    @Test mutating func `settles for good what is on disk`() {
        accept(2)
        _ = push()
        _ = delivery.settle(upTo: 2, told: [], at: .zero)
        #expect(delivery.settledForGood == 2)
        delivery.kept(settled: 1)
        #expect(delivery.settledForGood == 1)
    }

    // MARK: Ends

    @Test mutating func `of a loop that has ended asks for the last outcomes, if there are some`() {
        delivery.end()
        #expect(!delivery.needsOutcomes)
        accept(1)
        delivery.end()
        #expect(delivery.needsOutcomes)
    }

    @Test mutating func `gives up what may have been applied, and what was not`() {
        accept(1)
        _ = push()
        accept(1)
        var broken = delivery
        let told = delivery.giveUp(rules)
        #expect(told.map(\.number) == [1, 2] && told.map(\.reason) == [.historyChanged, .ended])
        #expect(delivery.outbox.isEmpty)
        #expect(broken.giveUp(BrokenRules([.unheardIsNotRefused])).map(\.reason) == [.ended, .ended])
    }

    @Test mutating func `loses its session with what may have left, and keeps the rest if it outlives its process`() {
        accept(1)
        _ = push()
        accept(1)
        delivery.end()
        var kept = delivery
        #expect(delivery.loseSession() == [1, 2])
        #expect(delivery.outbox == Outbox() && !delivery.needsOutcomes)
        kept.kept(settled: 0)
        #expect(kept.loseSession() == [1])
        #expect(kept.outbox.base == 1 && kept.outbox.count == 1 && kept.settledForGood == 0)
    }
}
