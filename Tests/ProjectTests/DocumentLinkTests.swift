import Foundation
import Testing

/// The quick look at what `make run` checks with its own tool: files only, no fragments.
@Suite struct `Links in the project's documents` {
    @Test func `lead to files that are there`() throws {
        for document in Repository.files where document.hasSuffix(".md") && !document.hasPrefix("Tests/") {
            let folder = document.split(separator: "/").dropLast().joined(separator: "/")
            for target in Self.targets(in: try Repository.text(document)) {
                let path = target.hasPrefix("/") ? String(target.dropFirst()) : folder + "/" + target
                #expect(Repository.exists(path.removingPercentEncoding ?? path), "\(document) links to \(target)")
            }
        }
    }

    /// The relative targets of inline links and of reference definitions, outside of code, without their fragments.
    static func targets(in markdown: String) -> [String] {
        var text = ""
        var isCode = false
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                text += line.replacing(/`[^`]*`/, with: "") + "\n"
            }
        }
        let inline = text.matches(of: /\]\(\s*<?([^)\s>]+)[^)]*\)/).map { String($0.output.1) }
        let references = text.matches(of: /(?m)^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/).map { String($0.output.1) }
        return (inline + references).compactMap { target in
            let path = target.prefix { $0 != "#" && $0 != "?" }
            return path.isEmpty || path.contains(/^[a-zA-Z][a-zA-Z0-9+.-]*:/) || path.hasPrefix("//")
                ? nil : String(path)
        }
    }

    @Test func `are found where Markdown has them`() {
        let text = """
            See [a](docs/a.md), [b](docs/b.md "title"), ![c](img.png#x), [d](#here), [e](https://x.org/y),
            `[f](no.md)` and [g][1].

            ```
            [h](no.md)
            ```

            [1]: docs/g.md#part
            """
        #expect(Self.targets(in: text) == ["docs/a.md", "docs/b.md", "img.png", "docs/g.md"])
    }
}
