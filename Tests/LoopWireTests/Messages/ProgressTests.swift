import CBOR
import LoopCore
import LoopWire
import Testing

@Suite struct `Reports of progress` {
    @Test func `hold any fraction within bounds, and as much of a text as fits`() {
        #expect(EffectProgress(0.4, "page 12").fraction == 0.4)
        for (given, kept) in [(-1, 0), (2, 1), (.nan, 0), (.infinity, 1), (0.00004, 0)] as [(Double, Double)] {
            #expect(EffectProgress(given).fraction == kept, "\(given)")
        }
        #expect(EffectProgress(0, String(repeating: "ü", count: 100)).text == String(repeating: "ü", count: 64))
        #expect(EffectProgress(0, String(repeating: "👨‍👩‍👧‍👦", count: 100)).text.utf8.count <= 128)
    }

    @Test func `G12 with more than they may hold are malformed`() throws {
        func bytes(_ hundredths: UInt16, _ textBytes: Int) -> [UInt8] {
            var writer = ByteWriter()
            for byte in ToReducer.progress(SessionID(1), Epoch(number: 1, nonce: 2), []).bytes(loop: LoopID(name: "x"))
                .dropLast(4)
            { writer.u8(byte) }
            writer.u32(1)
            for _ in 0..<32 { writer.u8(0) }
            writer.u16(hundredths)
            writer.u32(UInt32(textBytes))
            for _ in 0..<textBytes { writer.u8(0x61) }
            return writer.bytes
        }
        func isRead(_ bytes: [UInt8]) -> Bool { (try? ToReducer(bytes: bytes[...], loop: LoopID(name: "x"))) != nil }
        #expect(isRead(bytes(10_000, 128)))
        #expect(!isRead(bytes(10_001, 1)))
        #expect(!isRead(bytes(1, 129)))
    }
}
