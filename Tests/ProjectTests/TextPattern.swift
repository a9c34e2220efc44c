import Foundation

/// A regular expression for whole files. The expressions of the language take a minute for all files in a build for debugging.
struct TextPattern: @unchecked Sendable {
    // Its documentation says that it can be used by several threads at once.
    private let expression: NSRegularExpression

    /// - Parameter pattern: in the syntax of ICU; `^` and `$` are the ends of a line.
    /// - Throws: an error if the pattern is malformed.
    init(_ pattern: String) throws {
        expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
    }

    /// The parts of a text that match, in order.
    func matches(in text: String) -> [String] { ranges(in: text).map { String(text[$0]) } }

    /// The line of each match, in order.
    func lines(of text: String) -> [String] {
        ranges(in: text).map { String(text[text.lineRange(for: $0)]).trimmingCharacters(in: .newlines) }
    }

    private func ranges(in text: String) -> [Range<String.Index>] {
        expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap {
            Range($0.range, in: text)
        }
    }
}
