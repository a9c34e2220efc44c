import Testing

/// The page on the log lists the kinds of the log.
@Suite struct `The table of the log's kinds` {
    @Test func `lists every kind, in the order of the code, and no other`() throws {
        let code = try Repository.text("Sources/LoopNode/Log/LogKind.swift")
            .matches(of: /(?m)^    case (\w+)$/).map { String($0.output.1) }
        let rows = try Repository.text("docs/log.md")
            .matches(of: /(?m)^\| `(\w+)` \| (?:debug|info|notice|warning|error) \|/).map { String($0.output.1) }
        #expect(code.count > 30)
        #expect(rows == code)
    }
}
