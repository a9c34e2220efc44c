// Unsafe: the index covers the whole document, so every item lies within its bytes. A key's text is used at once.

/// The item at a path within a document, or the step at which the path ends.
package enum CBORPart: Equatable, Sendable {
    /// The bytes of the item, which are a separate document.
    case found([UInt8])
    /// The step of this number, from 0, leads nowhere. `Known` describes the item to which it was applied.
    case missing(step: Int, Known)

    /// A description of the item to which the failed step was applied.
    package enum Known: Equatable, Sendable {
        /// A map: its first keys, at most ten, and their total number.
        case keys([String], count: Int)
        /// An array: the number of its elements.
        case elements(count: Int)
        /// An item that is neither a map nor an array.
        case value
    }
}

extension CBOR {
    /// Finds the item at a path, without building any other value of the document.
    /// - Parameters:
    ///   - bytes: a document.
    ///   - path: keys of maps as ``json(_:limits:)`` writes them, and indices of array elements, from 0, in digits.
    ///   - limits: the limits for the document.
    /// - Throws: ``WireError`` if the bytes are not valid CBOR.
    package static func part(
        of bytes: [UInt8], at path: [String], limits: CBORLimits = .default
    ) throws(WireError) -> CBORPart {
        try CBORIndex.with(bytes, limits, isValid: true) { index in
            var item = CBORIndex.Item.root
            for (step, key) in path.enumerated() {
                while let (_, content) = index.tag(of: item) { item = content }
                switch index.child(of: item, at: key) {
                case .success(let child): item = child
                case .failure(let missing): return .missing(step: step, missing.known)
                }
            }
            return .found(Array(bytes[Int(item.offset)..<Int(index.after(item).offset)]))
        }
    }
}

extension CBORIndex {
    fileprivate struct Missing: Error {
        let known: CBORPart.Known
    }

    private static var keysShown: Int { 10 }

    fileprivate func child(of item: Item, at key: String) -> Result<Item, Missing> {
        let major = head(at: Int(item.offset)).major
        guard major == 4 || major == 5 else { return .failure(Missing(known: .value)) }
        let wanted = Array(key.utf8)
        var found: Item?
        var keys: [String] = []
        var count = 0
        var isValue = false
        forEach(in: item, isMap: major == 5) { number, element in
            if major == 4 {
                if found == nil, Int(key) == number { found = element }
                count += 1
            } else if number % 2 == 0 {
                isValue = found == nil && isText(element, wanted)
                if keys.count < Self.keysShown { keys.append(text(ofKey: element)) }
                count += 1
            } else if isValue, found == nil {
                found = element
            }
        }
        if let found { return .success(found) }
        return .failure(Missing(known: major == 4 ? .elements(count: count) : .keys(keys, count: count)))
    }

    private func isText(_ key: Item, _ wanted: [UInt8]) -> Bool {
        let head = head(at: Int(key.offset))
        guard head.major == 3 else { return text(ofKey: key).utf8.elementsEqual(wanted) }
        return unsafe withString(head, key) { unsafe $0.elementsEqual(wanted) }
    }

    /// The text of a key as JSON has it.
    func text(ofKey key: Item) -> String {
        let head = head(at: Int(key.offset))
        guard head.major == 3 else { return CBORText.diagnostic(self, key) }
        return unsafe withString(head, key) { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
