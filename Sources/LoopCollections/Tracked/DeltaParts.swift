import LoopLock

/// The tracked dictionaries of a state by their places in it, or anchors in them: what a difference to that state is made from.
///
/// A place is the path of keys that leads to the dictionary in the encoded state. Only those that lead through names count:
/// the elements of a set have no order that two processes share.
package final class DeltaParts: Sendable {
    private enum Part {
        case one(Any)
        /// Several dictionaries say that they are here.
        case ambiguous
    }

    private struct Content: @unchecked Sendable {
        var parts: [[String]: Part] = [:]
        var count = 0
    }

    private let content = Locked(Content())

    package init() {}

    /// - Returns: a number of its own; nil for a dictionary whose place does not count.
    func add<Key, Value>(_ dictionary: TrackedDictionary<Key, Value>, at path: [any CodingKey]) -> Int? {
        add(any: dictionary, at: path)
    }

    /// - Parameter anchor: nil for a dictionary that has none; it will be written whole.
    func add<Key, Value>(_ anchor: TrackedAnchor<Key, Value>?, at path: [any CodingKey]) -> Int? {
        add(any: anchor as Any, at: path)
    }

    private func add(any part: Any, at path: [any CodingKey]) -> Int? {
        guard let place = Self.place(path) else { return nil }
        return content.withLock { content in
            content.parts[place] = content.parts[place] == nil ? .one(part) : .ambiguous
            content.count += 1
            return content.count
        }
    }

    /// The place and the dictionary there, where it is of this type.
    func base<Key, Value>(
        at path: [any CodingKey], _ type: TrackedDictionary<Key, Value>.Type
    ) -> (place: [String], dictionary: TrackedDictionary<Key, Value>)? {
        guard let place = Self.place(path), let dictionary = base(place, type) else { return nil }
        return (place, dictionary)
    }

    func base<Key, Value>(
        _ place: [String], _ type: TrackedDictionary<Key, Value>.Type
    ) -> TrackedDictionary<Key, Value>? {
        part(at: place) as? TrackedDictionary<Key, Value>
    }

    /// The place and the anchor in the dictionary there, where it was of this type.
    func anchor<Key, Value>(
        at path: [any CodingKey], _ type: TrackedDictionary<Key, Value>.Type
    ) -> (place: [String], anchor: TrackedAnchor<Key, Value>)? {
        guard let place = Self.place(path), let anchor = part(at: place) as? TrackedAnchor<Key, Value> else {
            return nil
        }
        return (place, anchor)
    }

    private func part(at place: [String]) -> Any? {
        content.withLock { content in
            if case .one(let part)? = content.parts[place] { part } else { nil }
        }
    }

    private static func place(_ path: [any CodingKey]) -> [String]? {
        path.contains { $0.intValue != nil } ? nil : path.map(\.stringValue)
    }
}

/// How an encoder or decoder treats the tracked dictionaries that it meets.
package enum DeltaCoding: Sendable {
    /// Note where they are, and write a number for each.
    case noting(DeltaParts)
    /// Make an anchor in each, so that what changes in it from now on is known later; and write a number for each.
    case anchoring(DeltaParts)
    /// Write what has changed in them.
    case writing(since: DeltaParts)
    /// Make what has changed in them.
    case reading(since: DeltaParts)
    /// Keep them for the later encoding of their entries, and write a number for each.
    case outlining(NumberedDictionaries)
    /// Learn from numbers which entries will come, and leave them empty.
    case expecting(AssembledDictionaries)
    /// Put those in place whose entries have come.
    case assembling(AssembledDictionaries)
    /// Write them as maps, for people.
    case showing

    package static let key = {
        guard let key = CodingUserInfoKey(rawValue: "loop.delta") else { preconditionFailure("every text is a key") }
        return key
    }()
}
