/// Makes keys from the bytes that a terminal sends: UTF-8, control characters, and ECMA-48 sequences for the other keys. It ignores
/// unknown sequences. Pasted text becomes characters, and its line ends become blanks.
///
///     text ──ESC──▶ escape ──[──▶ sequence ──final byte──▶ text
///      ▲              └──O, other──▶ one more byte ─────────┘
package struct KeyReader: Equatable, Sendable {
    private enum State: Equatable {
        case text
        /// ESC was read. It is a key by itself, or begins a sequence.
        case escape
        /// ESC O was read. One letter follows.
        case shifted
        /// ESC [ was read. Parameters follow, then a letter or `~`.
        case sequence([UInt8])
    }

    private static let sequenceBytesMax = 16

    private var state = State.text
    private var isPasting = false
    /// The bytes so far of a character that is not complete.
    private var pending: [UInt8] = []

    /// Creates a reader at the beginning of a terminal's input.
    package init() {}

    /// Whether an escape was read that nothing has followed yet. After a moment without input, call `pause`.
    package var awaitsMore: Bool { state == .escape }

    /// Ends a lone escape after a moment without input: it is a key.
    package mutating func pause() -> [Key] {
        guard state == .escape else { return [] }
        state = .text
        return [.escape]
    }

    /// The keys that these bytes complete.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes { read(byte, &keys) }
        return keys
    }

    private mutating func read(_ byte: UInt8, _ keys: inout [Key]) {
        switch state {
        case .text: readText(byte, &keys)
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence([])
            case UInt8(ascii: "O"): state = .shifted
            case 0x1B: keys.append(.escape)
            default:
                // Alt with a key counts as the key.
                state = .text
                readText(byte, &keys)
            }
        case .shifted:
            state = .text
            append(Self.key(final: byte, first: 0), &keys)
        case .sequence(var parameters):
            if byte < 0x40 || byte == 0x7F {
                if parameters.count < Self.sequenceBytesMax { parameters.append(byte) }
                state = .sequence(parameters)
            } else {
                state = .text
                finish(parameters, byte, &keys)
            }
        }
    }

    private mutating func readText(_ byte: UInt8, _ keys: inout [Key]) {
        if byte < 0x80 {
            pending = []
        } else {
            pending.append(byte)
            guard pending.count >= Self.length(first: pending[0]) else { return }
            let text = String(validating: pending, as: UTF8.self)
            pending = []
            if let character = text?.first { keys.append(.character(character)) }
            return
        }
        switch byte {
        case 0x1B: state = .escape
        case 13, 10: keys.append(isPasting ? .character(" ") : .enter)
        case 9: keys.append(isPasting ? .character(" ") : .tab)
        case 127, 8: append(.backspace, &keys)
        case 0..<32: append(.control(Character(Unicode.Scalar(byte | 0x60))), &keys)
        default: keys.append(.character(Character(Unicode.Scalar(byte))))
        }
    }

    /// How many bytes a character has, by its first byte; 1 for a byte that cannot be first.
    private static func length(first: UInt8) -> Int {
        switch first {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }

    private mutating func finish(_ parameters: [UInt8], _ final: UInt8, _ keys: inout [Key]) {
        let first = parameters.prefix { $0 != UInt8(ascii: ";") }
        let number = first.count <= 4 ? Int(String(decoding: first, as: UTF8.self)) ?? 0 : 0
        switch (final, number) {
        case (UInt8(ascii: "~"), 200): isPasting = true
        case (UInt8(ascii: "~"), 201): isPasting = false
        default: append(Self.key(final: final, first: number), &keys)
        }
    }

    /// Appends a key, unless text is being pasted: pasted text has no keys other than characters.
    private func append(_ key: Key?, _ keys: inout [Key]) { if let key, !isPasting { keys.append(key) } }

    private static func key(final: UInt8, first: Int) -> Key? {
        switch (final, first) {
        case (UInt8(ascii: "A"), _): .up
        case (UInt8(ascii: "B"), _): .down
        case (UInt8(ascii: "C"), _): .right
        case (UInt8(ascii: "D"), _): .left
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), 1), (UInt8(ascii: "~"), 7): .home
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), 4), (UInt8(ascii: "~"), 8): .end
        case (UInt8(ascii: "Z"), _): .backTab
        case (UInt8(ascii: "M"), 0): .enter
        case (UInt8(ascii: "~"), 3): .delete
        case (UInt8(ascii: "~"), 5): .pageUp
        case (UInt8(ascii: "~"), 6): .pageDown
        default: nil
        }
    }
}

/// A key that was pressed in a terminal.
package enum Key: Hashable, Sendable {
    /// A key that types this character. Each character of a pasted text is one too.
    case character(Character)
    /// A letter in lower case, with the control key held down.
    case control(Character)
    case enter
    case tab
    /// Tab with the shift key held down.
    case backTab
    /// Deletes the character before the cursor.
    case backspace
    /// Deletes the character after the cursor.
    case delete
    case escape
    case left
    case right
    case up
    case down
    case home
    case end
    case pageUp
    case pageDown
}
