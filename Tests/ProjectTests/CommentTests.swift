import Testing

/// Patterns of translated English, each of which had a hundred places in comments once.
@Suite struct `Comments` {
    private struct Pattern: Sendable {
        let name: String
        let occurs: @Sendable (Substring) -> Bool
    }

    private static let banned = [
        Pattern(name: "a value in place of a sentence, such as \"; nil: none\"") {
            $0.contains(/;\s(nil|0|-1|empty|false|true|none)\b[^.]{0,30}:\s/)
        },
        Pattern(name: "\"The same\", which does not say what") { $0.contains(/(^|[.:;]\s)The same\b/) },
        Pattern(name: "anew") { $0.contains(/\banew\b/) },
        Pattern(name: "a process called a body") { $0.contains(/\b(no|some|every)body\b/.ignoresCase()) },
        Pattern(name: "\"so many\" for a number that has a name") { $0.contains(/\b[Ss]o many\b(?! \w+ that)/) },
        Pattern(name: "\"who\" without a noun") { $0.contains(/\b[Ww]hoever\b|(^|[.:]\s)Who\s/) },
    ]

    @Test func `have none of the patterns that are hard to read`() throws {
        let files = Repository.swiftFiles
        #expect(files.count > 1000)
        for file in files {
            for line in try Repository.text(file).split(separator: "\n") {
                guard let comment = line.firstMatch(of: /^\s*\/\/\/?\s?(.*)$/)?.output.1 else { continue }
                for pattern in Self.banned where pattern.occurs(comment) {
                    Issue.record("\(file): \(pattern.name): \(comment)")
                }
            }
        }
    }

    @Test(arguments: [
        "The number; nil: there is none.", "Ends. The same for others.", "It begins anew.", "Nobody asks.",
        "Whoever asks gets it.", "Who asks gets it.",
        "Sends so many events.",
    ])
    func `are read by patterns that find what they look for`(comment: String) {
        #expect(Self.banned.contains { $0.occurs(comment[...]) })
    }
}
