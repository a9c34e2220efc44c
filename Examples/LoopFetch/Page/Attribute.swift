/// An attribute of an element, whose value is not nil.
///
/// The value is valid only while the element is reported.
struct Attribute {
    let name: Word
    let value: UnsafeBufferPointer<UInt8>

    var text: String { String(decoding: value, as: UTF8.self) }
}

extension [Attribute] {
    /// The value of the attribute with this name.
    func value(_ wanted: Word) -> String? { first { $0.name == wanted }?.text }
}
