/// The tracked dictionaries of a state by their paths in it, or anchors in them. A difference to that state is made from them.
///
/// A path has the keys that lead to the dictionary in the encoded state. Only paths of names count, because the elements of a set
/// have no order that two processes share.
package final class DeltaParts: Sendable {
    private enum Part {
        case one(Any)
        /// Several dictionaries have this path.
        case ambiguous
    }

    private struct Content: @unchecked Sendable {
        var parts: [[String]: Part] = [:]
        var count = 0
    }

    private let content = Locked(Content())

    package init() {}

    /// - Returns: the dictionary's number, or nil if its path does not count.
    func add<Key, Value>(_ dictionary: TrackedDictionary<Key, Value>, at path: [any CodingKey]) -> Int? {
        add(any: dictionary, at: path)
    }

    /// - Parameter anchor: the anchor, or nil if the dictionary has none. Then it is written whole.
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

    /// The dictionary at a path, if it has this type.
    func base<Key, Value>(
        _ place: [String], _ type: TrackedDictionary<Key, Value>.Type
    ) -> TrackedDictionary<Key, Value>? {
        part(at: place) as? TrackedDictionary<Key, Value>
    }

    /// The path and the anchor of the dictionary there, if it had this type.
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

/// How an encoder or decoder treats the tracked dictionaries in a state.
package enum DeltaCoding: Sendable {
    /// Note their paths, and write a number for each.
    case noting(DeltaParts)
    /// Make an anchor in each, so that later changes of it are known, and write a number for each.
    case anchoring(DeltaParts)
    /// Write their changes.
    case writing(since: DeltaParts)
    /// Apply changes to them.
    case reading(since: DeltaParts)
    /// Keep them for the later encoding of their entries, and write a number for each.
    case outlining(NumberedDictionaries)
    /// Note by numbers which dictionaries will come, and make empty ones.
    case expecting(AssembledDictionaries)
    /// Replace the numbers by dictionaries with the entries that have arrived.
    case assembling(AssembledDictionaries)
    /// Write them as maps, for people.
    case showing

    package static let key = {
        guard let key = CodingUserInfoKey(rawValue: "loop.delta") else { preconditionFailure("every text is a key") }
        return key
    }()
}
