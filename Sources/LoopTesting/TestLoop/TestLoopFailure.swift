/// What a test of a loop has found: where, what was expected, and what happened instead.
public struct TestLoopFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file of the call that failed, as `#fileID` names it.
    public let file: String
    /// The line of the call that failed, from 1.
    public let line: UInt
    /// What was expected, in a sentence.
    public let summary: String
    /// What happened instead, line by line.
    public let details: [String]

    /// The whole text: `file:line: summary` and the details below.
    public var description: String {
        (["\(file):\(line): \(summary)"] + details.map { "    " + $0 }).joined(separator: "\n")
    }
}

/// A call of a test, to be named in its failure.
struct TestCall {
    let name: String
    let file: StaticString
    let line: UInt

    init(_ name: String, _ file: StaticString, _ line: UInt) {
        self.name = name
        self.file = file
        self.line = line
    }

    func failure(_ summary: String, _ details: [String] = []) -> TestLoopFailure {
        TestLoopFailure(file: "\(file)", line: line, summary: "\(name): \(summary)", details: details)
    }
}
