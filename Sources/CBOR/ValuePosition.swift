/// The position of a value: its node, and the key or the index there.
///
/// Coding paths and depths are found from it.
struct ValuePosition {
    enum Step {
        /// The value of its node, or a key of a dictionary.
        case none
        case index(Int)
        /// A key in the log.
        case key(start: Int, length: Int)
    }

    /// The node around the value, or nil at the top.
    let node: Int?
    let step: Step

    static let top = ValuePosition(node: nil, step: .none)

    @inline(__always)
    static func inside(_ node: Int) -> ValuePosition { ValuePosition(node: node, step: .none) }

    @inline(__always)
    static func element(_ index: Int, of node: Int) -> ValuePosition { ValuePosition(node: node, step: .index(index)) }

    /// The position after the key that begins at `keyStart` in the log.
    @inline(__always)
    static func entry(keyStart: Int, keyLength: Int, of node: Int) -> ValuePosition {
        ValuePosition(node: node, step: .key(start: keyStart, length: keyLength))
    }
}
