/// The text that a user types into a field, while the loop receives it.
///
/// Typed text is shown at once. The loop's state follows later. If it agrees with what was typed, nothing changes. If the loop has
/// corrected or cleared the text, the loop's text is shown.
struct FieldDraft: Equatable, Sendable {
    /// Texts that the loop may not have answered yet, oldest first.
    private var written: [String] = []
    /// The text that the loop showed last.
    private var known: String
    private(set) var text: String
    /// The position of the cursor, in characters.
    private(set) var cursor: Int

    private static var writtenMax: Int { 256 }

    init(text: String) {
        known = text
        self.text = text
        cursor = text.count
    }

    /// The text after the cursor.
    var afterCursor: Substring { text.dropFirst(cursor) }

    mutating func loopShows(_ new: String) {
        if new == known { return }
        known = new
        if let place = written.firstIndex(of: new) {
            written.removeFirst(place + 1)
            return
        }
        written = []
        let isAtEnd = cursor == text.count
        text = new
        cursor = isAtEnd ? new.count : min(cursor, new.count)
    }

    /// Takes a key.
    /// - Returns: whether the text has changed, or nil if a field does not use the key.
    mutating func press(_ key: Key) -> Bool? {
        switch key {
        case .character(let character):
            return edit {
                $0.insert(character, at: $1)
            } by: {
                $0 + 1
            }
        case .backspace: return cursor == 0 ? false : remove(cursor - 1..<cursor)
        case .delete: return cursor == text.count ? false : remove(cursor..<cursor + 1)
        case .control("u"): return cursor == 0 ? false : remove(0..<cursor)
        case .control("w"):
            var start = cursor
            let characters = Array(text)
            while start > 0, characters[start - 1] == " " { start -= 1 }
            while start > 0, characters[start - 1] != " " { start -= 1 }
            return start == cursor ? false : remove(start..<cursor)
        case .left: cursor = max(cursor - 1, 0)
        case .right: cursor = min(cursor + 1, text.count)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        default: return nil
        }
        return false
    }

    private mutating func remove(_ range: Range<Int>) -> Bool {
        let start = text.index(text.startIndex, offsetBy: range.lowerBound)
        let end = text.index(text.startIndex, offsetBy: range.upperBound)
        return edit { text, _ in
            text.removeSubrange(start..<end)
        } by: { _ in
            range.lowerBound
        }
    }

    private mutating func edit(_ change: (inout String, String.Index) -> Void, by move: (Int) -> Int) -> Bool {
        let (before, count) = (text, text.count)
        change(&text, text.index(text.startIndex, offsetBy: cursor))
        // A combining mark joins the character before it, so the number of characters does not change.
        cursor = text.count == count && move(cursor) > cursor ? cursor : min(move(cursor), text.count)
        written.append(text)
        if written.count > Self.writtenMax { written.removeFirst() }
        return text != before
    }
}
