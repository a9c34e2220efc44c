import Foundation
import Testing

/// docs/ARCHITECTURE.md follows an event, a request, a restart and a takeover through files and functions.
@Suite struct `The paths through the code` {
    /// The steps of a path, each with the files and functions of its last column.
    private static func steps(of title: String) throws -> [[(file: String, names: [String])]] {
        let sections = try Repository.text("docs/ARCHITECTURE.md").components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix(title + "\n") })
        return section.split(separator: "\n").filter { $0.contains(/^\| \d+ \|/) }.map { row in
            let cells = row.split(separator: "|")
            return (cells.last ?? "").split(separator: ";").map { item in
                let words = item.matches(of: /`([^`]+)`/).map { String($0.output.1) }
                return ("Sources/\(words.first ?? "")", Array(words.dropFirst()))
            }
        }
    }

    @Test(arguments: [("The path of an event", 26, 48), ("The path of a restart", 18, 48)])
    func `are short`(title: String, filesMax: Int, callsMax: Int) throws {
        let items = try Self.steps(of: title).joined()
        #expect(Set(items.map(\.file)).count <= filesMax)
        #expect(items.reduce(0) { $0 + $1.names.count } <= callsMax)
    }

    @Test(arguments: [
        "The path of an event", "The path of a request", "The path of a restart", "The path of a takeover",
    ])
    func `name files and functions that are there`(title: String) throws {
        let steps = try Self.steps(of: title)
        #expect(steps.count > 10)
        for (file, names) in steps.joined() {
            guard Repository.exists(file), file.hasSuffix(".swift") else {
                Issue.record("\(title): there is no file \(file)")
                continue
            }
            let text = try Repository.text(file)
            #expect(!names.isEmpty, "\(title): \(file)")
            for name in names {
                let declaration = try Regex(name == "init" ? #"\binit[?(<]"# : #"\bfunc \#(name)\b"#)
                #expect(text.contains(declaration), "\(title): \(file) has no \(name)")
            }
        }
    }
}
