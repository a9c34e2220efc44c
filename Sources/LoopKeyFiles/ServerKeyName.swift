/// Which keys of a folder are the reducer's own: `server`, and `server-2`, `server-3`… where a new one is introduced next to
/// the old one.
struct ServerKeyName: Hashable, Comparable {
    private static let base = "server"

    /// 1 for `server`.
    let number: Int

    static let first = ServerKeyName(number: 1)

    private init(number: Int) { self.number = number }

    /// Nil for every other name.
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

    /// Without `.key` and `.key_secret`.
    var text: String { number == 1 ? Self.base : "\(Self.base)-\(number)" }

    static func < (one: ServerKeyName, other: ServerKeyName) -> Bool { one.number < other.number }
}
