import Testing
import ZMQ

@Suite struct `Keys of CURVE` {
    @Test func `are pairs of 32 bytes, and different ones each time`() throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<4 {
            let keys = try CurveKeys.generate()
            for key in [keys.publicKey, keys.secretKey] {
                #expect(key.count == 32)
                #expect(seen.insert(key).inserted)
            }
        }
        #expect(!seen.contains([UInt8](repeating: 0, count: 32)))
    }
}
