// Unsafe: the caller lends the document's bytes for this call.

/// The answers to `allKeys` for maps of one entry, which is how the compiler codes an enum: by the name of the case.
///
/// They are kept as arrays, because a new one for each value would cost as much as reading a small event.
final class CaseKeys {
    /// An answer. No type is looked up at run time to find one, because this class is not generic.
    class Answer {}

    final class TypedAnswer<Key: CodingKey>: Answer {
        let keys: [Key]

        init(_ key: Key) { keys = [key] }
    }

    private var names: [KeyName] = []
    private var answers: [Answer] = []
    /// The answer that was found last: one case most often follows another of its kind.
    private var last = 0

    /// The answer for the one key that is at `place`, from where on the document has `available` bytes.
    func answer(at place: UnsafePointer<UInt8>, available: Int) -> Answer? {
        if last < names.count, unsafe names[last].isAt(place, available: available) { return answers[last] }
        for number in names.indices where unsafe names[number].isAt(place, available: available) {
            last = number
            return answers[number]
        }
        return nil
    }

    /// Keeps an answer, if there is room and the key's name is short.
    func learn(_ text: String, _ key: some CodingKey) {
        guard names.count < KeyName.ordinalsMax, let name = KeyName(text, ordinal: 0) else { return }
        names.append(name)
        answers.append(TypedAnswer(key))
    }
}
