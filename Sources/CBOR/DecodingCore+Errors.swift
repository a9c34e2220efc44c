// Unsafe: the document's memory and its index do not change until `close()`, and every handle is checked against its
// serial number.

/// Errors of values, as `Codable` code expects them, with this module's errors inside.
extension DecodingCore {
    func mismatch(_ type: Any.Type, _ expected: String, _ item: Item) -> DecodingError {
        let found = index.excerpt(item)
        let path = codingPath(of: item)
        let error = WireError.typeMismatch(path: CBORPath.text(path), expected: expected, found: found)
        let context = DecodingError.Context(
            codingPath: path, debugDescription: "expected \(expected), found \(found)", underlyingError: error)
        let isNull = (try? isNull(item)) ?? false
        return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func outOfRange(_ type: Any.Type, _ item: Item) -> DecodingError {
        let value = index.excerpt(item)
        let path = codingPath(of: item)
        return .dataCorrupted(
            DecodingError.Context(
                codingPath: path, debugDescription: "\(value) does not fit \(type)",
                underlyingError: WireError.outOfRange(path: CBORPath.text(path), type: "\(type)", value: value)))
    }

    func refused(_ why: String, _ item: Item) -> DecodingError {
        let path = codingPath(of: item)
        return .dataCorrupted(
            DecodingError.Context(
                codingPath: path, debugDescription: why,
                underlyingError: WireError.refused(path: CBORPath.text(path), why: why)))
    }

    /// The keys from the top of the document to an item, found by walking there. They are only needed for errors, so none are
    /// stored. A document that needs too many steps gets empty paths.
    func codingPath(of target: Item) -> [any CodingKey] {
        guard isOpen else { return [] }
        var path: [any CodingKey] = []
        var place = Item.root
        while true {
            let head = index.head(at: Int(place.offset))
            guard head.major == 4 || head.major == 5, head.content <= Int(target.offset) else { return path }
            let container = index.containers[Int(place.container)]
            var element = index.first(of: place)
            var number = 0
            var inner: Item?
            while element.offset < container.contentEnd {
                guard takePathStep() else { return [] }
                let key = element
                if head.major == 5 { element = index.after(element) }
                let next = index.after(element)
                if target.offset < next.offset {
                    // A key is a step of the path. The search does not go into a complex key.
                    unsafe path.append(
                        head.major == 4
                            ? CBORPath.Step(index: number)
                            : CBORPath.Step(
                                encodedKey: index.base + Int(key.offset), Int(element.offset) - Int(key.offset)))
                    inner = target.offset < element.offset ? nil : element
                    break
                }
                element = next
                number += 1
            }
            guard let inner else { return path }
            place = inner
        }
    }
}
