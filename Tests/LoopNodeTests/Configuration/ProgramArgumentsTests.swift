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

    @Test func `are not taken from a variable that is no UTF-8, which is named without its value`() throws {
        let foreign = Array("LANG=".utf8) + [0xFF]
        try ProgramArguments.check([foreign, Array("LOOP_KEY=\u{FFFD}".utf8)])
        let error = #expect(throws: UsageError.self) {
            try ProgramArguments.check([Array("LOOP_KEY=secret".utf8) + [0xFF]])
        }
        #expect(error?.message == "the environment variable LOOP_KEY is no text in UTF-8")
    }
}
