// Names of feedbacks. A loop with workers or a journal identifies a feedback by its name, which must be unique there. A
// loop in one process numbers feedbacks of equal names.

extension Feedback {
    /// This feedback with another name. The parts of a combined feedback are qualified with it: "name.part".
    public func named(_ name: String) -> Feedback {
        if case .combined = kind { return qualified(by: name) }
        var copy = self
        copy.name = name
        return copy
    }

    /// This feedback with the name of its part of the state as a prefix: "part.name".
    func qualified(by part: String?) -> Feedback {
        guard let part else { return self }
        return changing { $0.name = "\(part).\($0.name)" }
    }
}

extension Sequence {
    /// The first mistake of one of the feedbacks, or nil.
    package func firstMistake<State, Event>() -> String? where Element == Feedback<State, Event> {
        lazy.compactMap(\.mistake).first
    }
}

extension Array {
    /// These feedbacks with unique names: the second of a name is "name#2", the third "name#3", and so on.
    package func distinctlyNamed<State, Event>() -> [Feedback<State, Event>] where Element == Feedback<State, Event> {
        if count < 2 { return self }
        var taken = Set(map(\.name))
        if taken.count == count { return self }
        var copies: [String: Int] = [:]
        return map { feedback in
            let number = copies[feedback.name, default: 0] + 1
            copies[feedback.name] = number
            if number == 1 { return feedback }
            var suffix = number
            while !taken.insert("\(feedback.name)#\(suffix)").inserted { suffix += 1 }
            copies[feedback.name] = suffix
            return feedback.named("\(feedback.name)#\(suffix)")
        }
    }
}

/// The location of a call in the source, as the name of a feedback that has no other.
@usableFromInline
package func place(_ file: String, _ line: UInt, _ column: UInt) -> String { "\(file):\(line):\(column)" }
