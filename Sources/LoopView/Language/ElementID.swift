/// Names an element of a tree: the names of those that contain it and its own. The same in the next tree as long as it
/// stands in the same place in the code, or was given the same `id`.
public struct ElementID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Letters, digits and `#%-./_~`; fit for an attribute.
    public let path: String

    /// An id as it came back from a client; whether it names anything, only a tree can say.
    public init(path: String) { self.path = path }

    package static let root = ElementID(path: "")

    package func child(_ key: String) -> ElementID { ElementID(path: "\(path)/\(key)") }

    /// Orders by path, as text: a container comes before what it contains.
    public static func < (a: ElementID, b: ElementID) -> Bool { a.path < b.path }

    /// The path.
    public var description: String { path }

    /// A name with everything that has a meaning in a path written as `%XX`.
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
