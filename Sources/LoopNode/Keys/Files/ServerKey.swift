package import LoopKeys

/// One of the reducer's own key pairs, with its number.
package struct ServerKey: Sendable {
    /// The number: 1 for `server`, 2 for `server-2` and so on.
    package let number: Int
    /// The part that peers know.
    package let certificate: Certificate
    /// The part that only the reducer knows.
    package let secretKey: SecretKey
}

/// The name of a reducer's own key in its folder: `server`, or `server-2`, `server-3`… while a new one is introduced
/// and the old one is still used.
struct ServerKeyName: Hashable, Comparable {
    private static let base = "server"

    /// The number: 1 for `server`.
    let number: Int

    static let first = ServerKeyName(number: 1)

    private init(number: Int) { self.number = number }

    /// Reads a name, or gives nil for every other one.
    init?(_ name: some StringProtocol) {
        if name == Self.base {
            number = 1
        } else {
            guard name.hasPrefix(Self.base + "-"), let number = Int(name.dropFirst(Self.base.count + 1)), number >= 2,
                name == "\(Self.base)-\(number)"
            else { return nil }
            self.number = number
        }
    }

    /// The name without `.key` and `.key_secret`.
    var text: String { number == 1 ? Self.base : "\(Self.base)-\(number)" }

    static func < (one: ServerKeyName, other: ServerKeyName) -> Bool { one.number < other.number }
}
