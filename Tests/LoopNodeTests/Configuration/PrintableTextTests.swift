import LoopCollections
import Testing

@testable import LoopNode

@Suite struct `Text from elsewhere` {
    @Test func `G12 does not control a terminal`() {
        #expect(PrintableText.lines("a\u{1B}[2Jb\rc\u{7F}\u{9B}31m") == #"a\u{1B}[2Jb\u{D}c\u{7F}\u{9B}31m"#)
        #expect(PrintableText.lines("txt\u{202E}exe\u{2066}") == #"txt\u{202E}exe\u{2066}"#)
    }

    @Test func `is shown as it is where it is harmless`() {
        let text = "Grüße 👋🏽 an \"alle\"\\\n\tzwei\n"
        #expect(PrintableText.lines(text) == text)
    }

    @Test func `G12 cannot make a line of a log look like two`() {
        let lines = Locked<[String]>([])
        let log = NodeLog(name: "reducer", .lines { line in lines.withLock { $0.append(line) } })
        log.note(.notAllowed, "refused \"a\nreducer: all is well\"")
        #expect(lines.withLock { $0 } == [#"reducer: refused "a\u{A}reducer: all is well""#])
        #expect(JSONText.onOneLine("a\nb\u{1B}c") == #"a b\u{1B}c"#)
    }
}
