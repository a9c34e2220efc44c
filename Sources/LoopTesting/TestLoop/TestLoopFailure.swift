/// A failed test of a loop: the position, what was expected, and what happened instead.
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

/// A call of a test, with the name for its failure.
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

/// The reason why a loop cannot be tested further.
enum TestLoopError: Error {
    /// The loop's own effects send events without end.
    case restless(transitionsMax: Int, last: String)
    /// One event, applied twice to one state, had two results.
    case impure(_ event: String, _ difference: [String])
    /// A schedule or its time zone cannot be used.
    case unusable(_ reason: String)

    func failure(of call: TestCall) -> TestLoopFailure {
        switch self {
        case .restless(let transitionsMax, let last):
            call.failure(
                "the loop does not come to rest: its own effects have sent \(transitionsMax) events, the last is \(last)"
            )
        case .impure(let event, let difference):
            call.failure(
                "reduce is not a function of state and event: \(event), applied twice to one state, had two results."
                    + " Do not read clocks, random numbers or anything else outside of the state; use the transition's"
                    + " time and random numbers (- first, + second)", difference)
        case .unusable(let reason): call.failure(reason)
        }
    }
}
