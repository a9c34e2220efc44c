// Names of feedbacks. A loop with workers or a journal knows a feedback by its name, so there each needs one of its own. A
// loop in one process numbers those that share a name.

extension Feedback {
    /// The same feedback under another name. A combined feedback's parts are qualified with it: "name.part".
    public func named(_ name: String) -> Feedback {
        if parts != nil { return qualified(by: name) }
        var copy = self
        copy.name = name
        return copy
    }

    /// The same feedback with a name that begins with that of its part of the state: "part.name".
    func qualified(by part: String?) -> Feedback {
        guard let part else { return self }
        return changing { $0.name = "\(part).\($0.name)" }
    }
}

extension Sequence {
    /// The first mistake that one of the feedbacks has, or nil.
    package func firstMistake<State, Event>() -> String? where Element == Feedback<State, Event> {
        lazy.compactMap(\.mistake).first
    }
}

extension Array {
    /// The same feedbacks, each with a name of its own: the second of a name is "name#2", the third "name#3", and so on.
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
