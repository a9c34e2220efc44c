// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

/// An attribute of an element. The value is empty if the page has none. It is valid only while the element is reported.
@safe struct Attribute {
    let name: Word
    let value: UnsafeBufferPointer<UInt8>

    var text: String { unsafe String(decoding: value, as: UTF8.self) }
}

extension [Attribute] {
    /// Returns the value of the attribute with this name, or nil if there is none.
    func value(_ wanted: Word) -> String? { first { $0.name == wanted }?.text }
}
