import LoopCore

/// One attempt of an effect.
struct Attempt: Hashable, Comparable, Sendable, CustomStringConvertible {
    var id: EffectID
    var number: Int

    static func < (a: Attempt, b: Attempt) -> Bool { a.id != b.id ? a.id < b.id : a.number < b.number }

    var description: String { "\(id)#\(number)" }
}

/// What can be seen of a loop between two moments of rest.
struct Observation: Equatable, Sendable {
    /// What happens one after the other: reductions, wishes of the queries, starts, readings.
    var trace: [String] = []
    /// Starts whose place among other feedbacks' starts is not promised, by feedback.
    var starts: [Int: [String]] = [:]
    /// What senders were told, in no order.
    var answers: [String] = []
    var state = Cells(0, 0, 0)
    var phases: [EffectID: EffectPhase] = [:]
    /// The attempts whose bodies have been entered.
    var entered: Set<Attempt> = []
    /// The attempts that have been cancelled.
    var cancelled: Set<Attempt> = []
    /// The pairs that custom feedbacks have seen, by feedback, one list for each time they were attached.
    var pairs: [Int: [[String]]] = [:]

    /// Whether something has been seen that should not have been, whatever may still come.
    func isWrong(expected: Observation) -> Bool {
        !expected.trace.starts(with: trace) || !Set(answers).isSubset(of: expected.answers)
            || !starts.allSatisfy { (expected.starts[$0.key] ?? []).starts(with: $0.value) }
            || !cancelled.isSubset(of: expected.cancelled)
    }

    /// Whether every custom feedback saw the beginning of what it should see: a loop's end cuts off what is not yet read.
    func sawBeginnings(of expected: Observation) -> Bool {
        pairs.allSatisfy { feedback, runs in
            let all = expected.pairs[feedback] ?? []
            return runs.count <= all.count && zip(runs, all).allSatisfy { $1.starts(with: $0) }
        }
    }

    /// Where two differ, in words.
    static func difference(expected: Observation, found: Observation) -> String {
        var lines: [String] = []
        func compare<Value: Equatable>(_ name: String, _ expected: Value, _ found: Value) {
            if expected != found { lines.append("\(name): expected \(expected)\n    found \(found)") }
        }
        compare("trace", expected.trace, found.trace)
        for feedback in Set(expected.starts.keys).union(found.starts.keys).sorted() {
            compare("starts of feedback \(feedback)", expected.starts[feedback] ?? [], found.starts[feedback] ?? [])
        }
        compare("answers", expected.answers.sorted(), found.answers.sorted())
        compare("state", expected.state, found.state)
        compare(
            "phases", expected.phases.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" },
            found.phases.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
        compare("entered", expected.entered.sorted(), found.entered.sorted())
        compare("cancelled", expected.cancelled.sorted(), found.cancelled.sorted())
        for feedback in Set(expected.pairs.keys).union(found.pairs.keys).sorted() {
            compare("pairs of feedback \(feedback)", expected.pairs[feedback] ?? [], found.pairs[feedback] ?? [])
        }
        return lines.joined(separator: "\n")
    }
}
