/// The entries of a map, or without a map the keys that a type reads.
struct ProbeKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let session: ProbeSession
    private let base: KeyedDecodingContainer<Key>?
    private let node: ProbeNode
    private let path: [CBORPath.Step]

    init(_ session: ProbeSession, _ decoder: (any Decoder)?, _ node: ProbeNode, _ path: [CBORPath.Step]) throws {
        self.session = session
        self.node = node
        self.path = path
        node.beginKeyed(Key.self)
        base = try decoder?.container(keyedBy: Key.self)
        guard let keys = try decoder?.container(keyedBy: ProbeSession.AnyKey.self).allKeys.map(\.stringValue) else {
            return
        }
        let unknown = keys.filter { Key(stringValue: $0) == nil }
        session.note(unknown: unknown, at: path)
        guard unknown.count == keys.count || keys.count > 1 else { return }
        let similar = keys.count == 1 ? keys.flatMap { Self.similar(to: $0) } : []
        session.note(ProbeSession.Caseless(keys: keys, similar: similar), at: path)
    }

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }

    var allKeys: [Key] {
        let listed = Self.listed()
        node.noteAllKeys(listed: listed.map(\.stringValue))
        if let base { return base.allKeys }
        // Without a document, a type that lists its keys gets one of them at a time.
        return listed.dropFirst(node.keyToGive).prefix(1).map { $0 }
    }

    /// All keys, if the type of the keys lists them.
    private static func listed() -> [Key] {
        func all<Cases: CaseIterable>(_ cases: Cases.Type) -> [Key] { cases.allCases.compactMap { $0 as? Key } }
        return (Key.self as? any CaseIterable.Type).map { all($0) } ?? []
    }

    /// At most three names that the type of the keys has and that resemble a name. They differ by one letter, by two swapped
    /// letters, or in lower case.
    private static func similar(to name: String) -> [String] {
        guard name.count <= 40 else { return [] }
        let letters = Array(name)
        let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
        var tries: [[Character]] = [Array(name.lowercased())]
        if let first = letters.first { tries.append([Character(first.lowercased())] + letters.dropFirst()) }
        for place in letters.indices {
            tries.append(Array(letters[..<place] + letters[(place + 1)...]))
            for letter in alphabet { tries.append(letters[..<place] + [letter] + letters[(place + 1)...]) }
            if place + 1 < letters.count {
                var swapped = letters
                swapped.swapAt(place, place + 1)
                tries.append(swapped)
            }
        }
        for place in 0...letters.count {
            for letter in alphabet { tries.append(letters[..<place] + [letter] + letters[place...]) }
        }
        var found: [String] = []
        for text in tries.map({ String($0) }) where Key(stringValue: text) != nil && !found.contains(text) {
            found.append(text)
        }
        return Array(found.prefix(3))
    }

    func contains(_ key: Key) -> Bool {
        node.note(key.stringValue, isOptional: true, nil)
        return base?.contains(key) ?? false
    }

    func decodeNil(forKey key: Key) throws -> Bool { try base?.decodeNil(forKey: key) ?? true }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        session.note(asked: key.stringValue, type)
        let place = path + [CBORPath.Step(stringValue: key.stringValue)]
        do {
            let (value, shape) = try session.read(type, from: try base?.superDecoder(forKey: key), at: place)
            node.note(key.stringValue, isOptional: false) { shape }
            return value
        } catch {
            node.note(key.stringValue, isOptional: false) { [session] in session.shape(of: type) }
            throw error
        }
    }

    private func read<T: Decodable>(ifPresent type: T.Type, _ key: Key) throws -> T? {
        guard let base, base.contains(key), try !base.decodeNil(forKey: key) else {
            node.note(key.stringValue, isOptional: true) { [session] in session.shape(of: type) }
            return nil
        }
        let (value, shape) = try session.read(
            type, from: try base.superDecoder(forKey: key), at: path + [CBORPath.Step(stringValue: key.stringValue)])
        node.note(key.stringValue, isOptional: true) { shape }
        return value
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? { try read(ifPresent: type, key) }

    // Without these, the standard library's defaults would run, which check whether the key is there.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try read(ifPresent: type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try read(ifPresent: type, key) }

    private func child(_ key: Key) throws -> (decoder: (any Decoder)?, node: ProbeNode, path: [CBORPath.Step]) {
        let child = ProbeNode()
        node.note(key.stringValue, isOptional: false) { child.shape(named: key.stringValue, isRead: true) }
        return (try base?.superDecoder(forKey: key), child, path + [CBORPath.Step(stringValue: key.stringValue)])
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        let child = try child(key)
        return KeyedDecodingContainer(try ProbeKeyed<Inner>(session, child.decoder, child.node, child.path))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let child = try child(key)
        child.node.beginUnkeyed()
        return ProbeUnkeyed(
            session: session, base: try child.decoder?.unkeyedContainer(), node: child.node, path: child.path)
    }

    func superDecoder() throws -> any Decoder {
        ProbeDecoder(
            session: session, base: try base?.superDecoder(), node: ProbeNode(),
            path: path + [CBORPath.Step(stringValue: "super")])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        let child = try child(key)
        return ProbeDecoder(session: session, base: child.decoder, node: child.node, path: child.path)
    }
}
