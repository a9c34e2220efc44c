import Testing

/// Patterns of translated English, each of which had a hundred places in comments once.
@Suite struct `Comments` {
    private static let banned = [
        #"; (nil|0|-1|empty|false|true|none)\b[^.\n]{0,30}: "#:
            "a value in place of a sentence, such as \"; nil: none\"",
        #"(^|[.:;] )The same\b"#: "\"The same\", which does not say what",
        #"\banew\b"#: "anew",
        #"(?i)\b(no|some|every)body\b"#: "a process called a body",
        #"\b[Ss]o many\b(?! \w+ that)"#: "\"so many\" for a number that has a name",
        #"\b[Ww]hoever\b|(^|[.:] )Who "#: "\"who\" without a noun",
    ]

    /// What the patterns find in comments, a line each.
    private func findings(in comments: String) throws -> [String] {
        try Self.banned.flatMap { pattern, name in
            try TextPattern(pattern).lines(of: comments).map { "\(name): \($0)" }
        }
    }

    @Test func `have none of the patterns that are hard to read`() throws {
        let files = Repository.swiftFiles
        #expect(files.count > 1000)
        let comment = try TextPattern(#"^[ \t]*//.*$"#)
        for file in files {
            let comments = comment.matches(in: try Repository.text(file)).map { line in
                line.drop { $0 == " " || $0 == "\t" || $0 == "/" }
            }
            for finding in try findings(in: comments.joined(separator: "\n")) { Issue.record("\(file): \(finding)") }
        }
    }

    @Test(arguments: [
        "The number; nil: there is none.", "Ends. The same for others.", "It begins anew.", "Nobody asks.",
        "Whoever asks gets it.", "Who asks gets it.",
        "Sends so many events.",
    ])
    func `are read by patterns that find what they look for`(comment: String) throws {
        #expect(try findings(in: comment) != [])
    }
}
