import Testing

@testable import LoopKeys

@Suite struct `Bytes as Z85` {
    /// The vectors of ZeroMQ's RFC 32.
    private static let hello: [UInt8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]

    @Test func `are as RFC 32 shows them`() {
        #expect(Z85.text(of: Self.hello) == "HelloWorld")
        #expect(Z85.bytes(of: "HelloWorld") == Self.hello)
    }

    @Test func `are the same after reading, up to the ends of a word`() {
        for bytes: [UInt8] in [[], [0, 0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 1], [128, 0, 0, 0]] {
            #expect(Z85.bytes(of: Z85.text(of: bytes)) == bytes)
        }
        #expect(Z85.text(of: [255, 255, 255, 255]) == "%nSc0")
    }

    @Test(arguments: [
        "Hello Worl", "HelloWor", "HelloWorl,", "HelloWorl\"", "HelloWor\u{e9}", "\0\0\0\0\0", "%nSc1", "#####",
    ])
    func `are no other text`(text: String) { #expect(Z85.bytes(of: text) == nil) }
}
