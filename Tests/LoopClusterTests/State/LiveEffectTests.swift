import CBOR
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

struct LiveEffectTests {
    private let plain = LiveEffect(
        request: [1, 2, 3], version: Seq(7), group: nil, floor: Attempt(epoch: 2, count: 0))

    @Test func `what is particular about an effect is its own, and a copy keeps what it had`() {
        var effect = plain
        effect.group = "a"
        effect.status = .parked("no")
        effect.failures = 3
        effect.retry = RetryTime(notBefore: WallTime(milliseconds: 5), wait: 4)
        var copy = effect
        copy.status = .completed
        copy.failures = 4
        #expect(effect.group == "a")
        #expect(effect.status == .parked("no"))
        #expect(!effect.isOpen)
        #expect(effect.failures == 3)
        #expect(effect.retry == RetryTime(notBefore: WallTime(milliseconds: 5), wait: 4))
        #expect(copy.group == "a")
        #expect(copy.status == .completed)
        #expect(copy.failures == 4)
        #expect(copy != effect)
        #expect(plain.isOpen)
        #expect(plain.group == nil)
        #expect(plain.failures == 0)
    }

    @Test func `an effect about which nothing is particular any more equals one about which nothing was`() {
        var effect = plain
        effect.status = .parked("no")
        effect.failures = 3
        #expect(effect != plain)
        effect.status = .open
        effect.failures = 0
        #expect(effect == plain)
        #expect(effect.isOpen)
    }

    @Test func `an effect without a request that can be sent is parked from the start`() {
        let effect = LiveEffect(request: nil, version: Seq(7), group: nil, floor: .none)
        #expect(effect.isUnsendable)
        #expect(effect.status == .parked(LiveEffect.unsendable))
        #expect(effect.request == [])
    }

    @Test func `an effect comes back from a snapshot with all that is particular about it`() throws {
        var effect = LiveEffect(
            request: [UInt8](repeating: 9, count: 40), version: Seq(7), group: "a",
            floor: Attempt(epoch: 2, count: 8))
        effect.status = .parked("no")
        effect.failures = 3
        effect.retry = RetryTime(notBefore: WallTime(milliseconds: -5), wait: 4)
        for effect in [effect, plain] {
            var writer = ByteWriter()
            effect.write(to: &writer)
            var reader = ByteReader(writer.bytes[...])
            #expect(try LiveEffect(from: &reader) == effect)
            #expect(reader.isAtEnd)
        }
    }

    @Test func `a wait that could not be written again is malformed in a snapshot`() {
        var effect = plain
        effect.retry = RetryTime(notBefore: WallTime(milliseconds: 5), wait: 4)
        var writer = ByteWriter()
        effect.write(to: &writer)
        // The wait is the last number.
        let bytes = writer.bytes.dropLast(8) + [UInt8](repeating: 0xff, count: 8)
        #expect(throws: WireError.malformed(what: "a wait of \(UInt64.max) ms", offset: bytes.count)) {
            var reader = ByteReader(bytes[...])
            _ = try LiveEffect(from: &reader)
        }
    }
}
