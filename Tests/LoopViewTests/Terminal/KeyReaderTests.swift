import LoopCore
import LoopView
import Testing

@Suite struct `Terminal keys` {
    private func keys(_ text: String) -> [Key] {
        var reader = KeyReader()
        return reader.read(text.utf8)
    }

    @Test func `letters and control characters are keys`() {
        #expect(
            keys("aÄ日\r\n\t\u{7F}\u{8}\u{3}") == [
                .character("a"), .character("Ä"), .character("日"), .enter, .enter, .tab, .backspace, .backspace,
                .control("c"),
            ])
    }

    @Test(arguments: [
        ("\u{1B}[A", Key.up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left), ("\u{1B}OA", .up),
        ("\u{1B}[H", .home), ("\u{1B}[F", .end), ("\u{1B}OH", .home), ("\u{1B}[1~", .home), ("\u{1B}[4~", .end),
        ("\u{1B}[3~", .delete), ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown), ("\u{1B}[Z", .backTab),
        ("\u{1B}[1;5C", .right), ("\u{1B}OM", .enter), ("\u{1B}x", .character("x")),
    ])
    func `sequences are keys`(text: String, key: Key) {
        #expect(keys(text) == [key])
        // Also where they come byte by byte.
        var reader = KeyReader()
        #expect(text.utf8.flatMap { reader.read([$0]) } == [key])
        #expect(!reader.awaitsMore)
    }

    @Test func `a lone escape is a key after a pause`() {
        var reader = KeyReader()
        #expect(reader.read([0x1B]) == [])
        #expect(reader.awaitsMore)
        #expect(reader.pause() == [.escape])
        #expect(reader.pause() == [])
        #expect(reader.read([0x1B, 0x1B]) == [.escape])
        #expect(reader.read([UInt8(ascii: "["), UInt8(ascii: "A")]) == [.up])
    }

    @Test func `pasted text presses nothing`() {
        #expect(
            keys("\u{1B}[200~a\r\tb\u{3}\u{7F}\u{1B}[A\u{1B}[201~\r") == [
                .character("a"), .character(" "), .character(" "), .character("b"), .enter,
            ])
    }

    @Test func `what is no key is left out`() {
        #expect(keys("\u{1B}[15~\u{1B}[?1;2c\u{1B}[99999999999999999999~a") == [.character("a")])
        var reader = KeyReader()
        #expect(
            reader.read([0xFF, 0xC0, 0x80, 0xE6, 0x41, 0xED, 0xA0, 0x80, 0x42]) == [.character("A"), .character("B")])
        // A sequence without an end takes no memory.
        #expect(reader.read([0x1B, 0x5B] + Array(repeating: 0x31, count: 100_000)) == [])
        #expect(reader.read([0x41]) == [.up])
    }

    @Test(arguments: 0..<20)
    func `whatever bytes come, and however they are cut, the keys are the same`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let alphabet: [UInt8] = [0x1B, 0x5B, 0x4F, 0x41, 0x7E, 0x32, 0x30, 0x31, 0x3B, 0xC3, 0xA4, 0xE6, 0x0D, 0x03]
        let bytes = (0..<500).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        var whole = KeyReader()
        var pieces = KeyReader()
        #expect(whole.read(bytes) == bytes.flatMap { pieces.read([$0]) })
        #expect(whole == pieces)
    }
}
