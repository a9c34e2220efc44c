import LoopCore

/// The feedbacks of a definition, by the numbers that a journal has given to their names.
///
/// A name gets the next number when a definition first has it, and keeps it for the life of the journal. No other name ever
/// gets the number, so that an effect's ID always means the same feedback.
package struct FeedbackTable: Sendable {
    /// All names that there ever were, by number.
    package let names: [String]
    /// The numbers of the definition's feedbacks, in the order of their declaration.
    package let numbers: [UInt32]
    private let feedbacks: [FeedbackFacts?]

    /// - Parameters:
    ///   - names: the names that the journal knows, by number.
    ///   - declared: the definition's feedbacks. Those with new names get the next numbers.
    package init(names: [String], declared: [FeedbackFacts]) {
        var names = names
        var numbers: [String: UInt32] = [:]
        for (number, name) in names.enumerated() where numbers[name] == nil { numbers[name] = UInt32(number) }
        for feedback in declared where numbers[feedback.name] == nil {
            numbers[feedback.name] = UInt32(names.count)
            names.append(feedback.name)
        }
        var feedbacks: [FeedbackFacts?] = Array(repeating: nil, count: names.count)
        for feedback in declared {
            if let number = numbers[feedback.name] { feedbacks[Int(number)] = feedback }
        }
        self.names = names
        self.numbers = declared.map { numbers[$0.name] ?? 0 }
        self.feedbacks = feedbacks
    }

    /// The definition's feedback of this number, or nil if the definition has none, or no longer.
    package subscript(number: UInt32) -> FeedbackFacts? {
        number < feedbacks.count ? feedbacks[Int(number)] : nil
    }

    /// The group whose members run the feedback's effects, or "" if the definition no longer has it.
    func group(_ number: UInt32) -> String { self[number]?.placement ?? "" }

    /// The policies of the definition's feedbacks, by number.
    var policies: [UInt32: EffectPolicy] {
        var policies: [UInt32: EffectPolicy] = [:]
        for number in numbers { policies[number] = self[number]?.policy }
        return policies
    }
}
