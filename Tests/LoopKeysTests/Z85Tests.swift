import Testing

@testable import LoopKeys

@Suite struct `Bytes as Z85` {
    /// The vectors of ZeroMQ's RFC 32.
    private static let hello: [UInt32] = [0x864F_D26F, 0xB559_F75B]

    private func text(_ words: [UInt32]) -> String {
        String(decoding: words.flatMap { Z85.characters(of: $0) }, as: UTF8.self)
    }

    private func word(_ text: String) -> UInt32? { Z85.word(of: Array(text.utf8).span, from: 0) }

    @Test func `are as RFC 32 shows them`() {
        #expect(text(Self.hello) == "HelloWorld")
        #expect(word("Hello") == Self.hello[0])
        #expect(Z85.word(of: Array("HelloWorld".utf8).span, from: 5) == Self.hello[1])
    }

    @Test func `are the same after reading, up to the ends of a word`() {
        for number: UInt32 in [0, .max, 1, 1 << 31] { #expect(word(text([number])) == number) }
        #expect(text([.max]) == "%nSc0")
    }

    @Test(arguments: ["Hell ", "orl,,", "Worl\"", "Wor\u{e9}", "\0\0\0\0\0", "%nSc1", "#####"])
    func `are no other text`(text: String) { #expect(word(text) == nil) }
}
