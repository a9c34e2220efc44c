import LoopOptions
import Testing

@testable import LoopNode

@Suite struct `The words of a command line` {
    @Test func `are refused where one is no UTF-8, with its number`() throws {
        #expect(
            try ProgramArguments.words([Array("send".utf8), Array("é\u{FFFD}".utf8), []]) == ["send", "é\u{FFFD}", ""])
        let error = #expect(throws: UsageError.self) {
            try ProgramArguments.words([Array("send".utf8), [0x61, 0xFF]])
        }
        #expect(error?.message == "argument 2, 'a\u{FFFD}', is no text in UTF-8")
    }
}
