import Testing

@testable import LoopCommands

@Suite struct `The pages of loopctl top` {
    @Test func `replace each other on a terminal, and are cut where it ends`() {
        let page = TopCommand.page(of: "loop orders\nseq 12345\nmore", on: (columns: 8, rows: 3))
        #expect(page == "\u{1B}[H\u{1B}[2Jloop ord\nseq 1234\n")
    }

    @Test func `are whole, one below the other, in a pipe`() {
        #expect(TopCommand.page(of: "loop orders\nseq 12345", on: nil) == "loop orders\nseq 12345\n\n")
    }
}
