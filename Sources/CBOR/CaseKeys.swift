/// The answers to `allKeys` for maps of one entry, which is how the compiler codes an enum: by the name of the case.
///
/// They are kept as arrays, because a new one for each value would cost as much as reading a small event.
class CaseKeys {
    private var names: [KeyName] = []
    /// The name that was found last: one case most often follows another of its kind.
    private var last = 0

    /// The answers for a type of keys. No method of it is generic, so that nothing is looked up at run time.
    final class Typed<Key: CodingKey>: CaseKeys {
        private var answers: [[Key]] = []

        /// The answer for the one key that is at `place`, from where on the document has `available` bytes.
        func answer(at place: UnsafePointer<UInt8>, available: Int) -> [Key]? {
            number(of: place, available).map { answers[$0] }
        }

        /// Keeps an answer, if there is room and the key's name is short.
        func learn(_ text: String, _ key: Key) {
            guard names.count < KeyName.ordinalsMax, let name = KeyName(text, ordinal: 0) else { return }
            names.append(name)
            answers.append([key])
        }
    }

    private func number(of place: UnsafePointer<UInt8>, _ available: Int) -> Int? {
        if last < names.count, names[last].isAt(place, available: available) { return last }
        guard let number = names.firstIndex(where: { $0.isAt(place, available: available) }) else { return nil }
        last = number
        return number
    }
}
