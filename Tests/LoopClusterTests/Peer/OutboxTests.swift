import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

/// What an outbox says, by a list of all entries.
private struct PlainOutbox {
    var entries: [Entry] = []
    var settled: UInt64 = 0
    var sent: UInt64 = 0
    var offered: UInt64 = 0

    var last: UInt64 { UInt64(entries.count) }

    func entry(_ number: UInt64) -> Entry? {
        number > settled && number <= last ? entries[Int(number) - 1] : nil
    }

    func entries(after number: UInt64) -> [Entry] { Array(entries[Int(min(max(number, settled), last))...]) }

    mutating func settle(upTo watermark: UInt64, told: [UInt64]) -> [UInt64] {
        let end = min(watermark, last)
        guard end > settled else { return [] }
        defer {
            settled = end
            sent = max(sent, settled)
        }
        return (settled + 1...end).filter { number in
            let entry = entries[Int(number) - 1]
            return entry.kind != .event || entry.wantsSeq || told.contains(number)
        }
    }
}

@Suite struct `G3 an outbox` {
    @Test(arguments: 0..<8)
    func `is as if it were a list of entries, whatever comes in which order`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var outbox = Outbox()
        var plain = PlainOutbox()
        func entry() -> Entry {
            let payload = [UInt8](
                repeating: UInt8.random(in: 0...255, using: &random), count: .random(in: 0...90, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                return Entry(
                    kind: .completed, effect: EffectID(feedback: 0, seq: Seq(7), index: 1),
                    attempt: Attempt(epoch: 1, count: 1), payload: payload[...])
            case 1: return Entry(kind: .event, payload: payload[...], wantsSeq: true)
            default: return Entry(kind: .event, payload: payload[...])
            }
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let new = entry()
                plain.entries.append(new)
                #expect(outbox.accept(new) == plain.last)
            case 1:
                let isPlain = Bool.random(using: &random)
                let new = (0..<Int.random(in: 0...150, using: &random)).map { _ in entry() }
                    .filter { !isPlain || $0.effect == nil && !$0.wantsSeq }
                #expect(outbox.accept(EntryRun(new)) == plain.last + 1)
                plain.entries += new
            case 2, 3:
                let (entriesMax, bytesMax) = (
                    Int.random(in: 1...300, using: &random), Int.random(in: 1...9000, using: &random)
                )
                guard let next = outbox.next(entriesMax: entriesMax, bytesMax: bytesMax) else {
                    #expect(plain.sent == plain.last)
                    continue
                }
                #expect(next.first == plain.sent + 1)
                #expect(!next.entries.isEmpty && next.entries.count <= entriesMax)
                #expect(next.entries.count == 1 || next.entries.byteCount <= bytesMax)
                #expect(Array(next.entries) == Array(plain.entries[Int(plain.sent)...].prefix(next.entries.count)))
                plain.sent += UInt64(next.entries.count)
                plain.offered = max(plain.offered, plain.sent)
            case 4:
                let number = UInt64.random(in: 0...plain.last + 2, using: &random)
                outbox.goBack(to: number)
                plain.sent = min(plain.sent, max(number, plain.settled))
            default:
                let watermark = UInt64.random(in: 0...plain.last + 1, using: &random)
                let told = (1...plain.last + 1).filter { _ in Int.random(in: 0..<20, using: &random) == 0 }
                let done = outbox.settle(
                    upTo: watermark, told: told.map { NotableOutcome(number: $0, outcome: .applied(Seq($0))) })
                #expect(
                    done.allSatisfy { (number, head, outcome) in
                        let entry = plain.entries[Int(number) - 1]
                        return head.kind == entry.kind && head.attempt == entry.attempt
                            && head.wantsSeq == entry.wantsSeq
                            && (head.hasEffect ? head.effect : nil) == entry.effect
                            && outcome == .applied(told.contains(number) ? Seq(number) : .initial)
                    })
                #expect(done.map(\.number) == plain.settle(upTo: watermark, told: told))
            }
            #expect(outbox.last == plain.last)
            #expect((outbox.settled, outbox.sent, outbox.offered) == (plain.settled, plain.sent, plain.offered))
            #expect(outbox.count == Int(plain.last - plain.settled))
            #expect(outbox.byteCount == EntryRun(plain.entries(after: 0)).byteCount)
            let number = UInt64.random(in: 0...plain.last + 1, using: &random)
            #expect(outbox.entry(number) == plain.entry(number))
            #expect(outbox.entries(after: number) == plain.entries(after: number))
        }
        #expect(outbox.entries(after: .max) == [])
        #expect(outbox.unsettled.map(\.number) == Array(plain.settled..<plain.last).map { $0 + 1 })
    }
}
