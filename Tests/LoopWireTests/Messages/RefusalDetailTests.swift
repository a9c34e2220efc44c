import CBOR
import LoopCore
import LoopWire
import Testing

@Suite struct `A refusal's detail` {
    @Test func `has at most 512 bytes, and no half of a character`() {
        let limit = RefusalDetail.bytesMax
        #expect(limit == 512)
        let full = String(repeating: "a", count: limit)
        #expect(RefusalDetail(number: 1, text: full).text == full)
        #expect(RefusalDetail(number: 1, text: full + "a").text == full)
        let wide = RefusalDetail(number: 1, text: String(full.dropLast(3)) + "größe").text
        #expect(wide == full.dropLast(3) + "gr")
        // A family is one character of 25 bytes.
        let family = RefusalDetail(number: 1, text: String(full.dropLast(24)) + "👨‍👩‍👧‍👦").text
        #expect(family == full.dropLast(24))
    }

    @Test func `that is longer is no message`() throws {
        let text = String(repeating: "a", count: RefusalDetail.bytesMax)
        let frame = PeerFrame(
            history: History(1), epoch: Epoch(number: 1, nonce: 1), session: SessionID(1),
            message: .refusalDetails([RefusalDetail(number: 1, text: text)]))
        var bytes = frame.bytes(topic: nil)
        #expect(try PeerFrame(bytes: bytes[...]) == frame)
        let count = bytes.count - text.utf8.count - 4
        bytes[count] += 1
        bytes.append(0x61)
        #expect(throws: WireError.self) { try PeerFrame(bytes: bytes[...]) }
    }
}
