/// Names an element of a tree by the names of its containers and its own. The name stays the same in the next tree if the element
/// has the same position in the code, or the same `id`.
public struct ElementID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Letters, digits and `#%-./_~`, so that it can be used in an attribute.
    public let path: String

    /// Takes an id as a client sent it. Only a tree can say whether it names an element.
    public init(path: String) { self.path = path }

    package static let root = ElementID(path: "")

    package func child(_ key: String) -> ElementID { ElementID(path: "\(path)/\(key)") }

    /// Orders by path, as text: a container comes before what it contains.
    public static func < (a: ElementID, b: ElementID) -> Bool { a.path < b.path }

    /// The path.
    public var description: String { path }

    /// The name with every character that has a meaning in a path written as `%XX`.
    static func escaped(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
