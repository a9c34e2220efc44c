import LoopLock

/// The tracked dictionaries of a state by their places in it, while a difference between two states is written or made.
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
        guard let place = Self.place(path) else { return nil }
        return content.withLock { content in
            content.parts[place] = content.parts[place] == nil ? .one(dictionary) : .ambiguous
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
        content.withLock { content in
            guard case .one(let dictionary)? = content.parts[place] else { return nil }
            return dictionary as? TrackedDictionary<Key, Value>
        }
    }

    private static func place(_ path: [any CodingKey]) -> [String]? {
        path.contains { $0.intValue != nil } ? nil : path.map(\.stringValue)
    }
}

/// What an encoder or decoder is told to do with the tracked dictionaries that it meets.
package enum DeltaCoding: Sendable {
    /// Note where they are, and write a number for each.
    case noting(DeltaParts)
    /// Write what has changed in them.
    case writing(since: DeltaParts)
    /// Make what has changed in them.
    case reading(since: DeltaParts)

    package static let key = CodingUserInfoKey(rawValue: "loop.delta").unsafelyUnwrapped
}
