/// URLs that are not checked: a prefix, or, with `*` for any text, a pattern for the whole URL.
struct URLPattern: Sendable {
    private let pieces: [[UInt8]]

    init(_ text: String) {
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    func matches(_ url: String) -> Bool {
        var rest = Array(url.utf8)[...]
        guard rest.starts(with: pieces[0]) else { return false }
        rest = rest.dropFirst(pieces[0].count)
        if pieces.count == 1 { return true }
        for piece in pieces[1..<(pieces.count - 1)] where !piece.isEmpty {
            guard let end = Self.end(of: piece, in: rest) else { return false }
            rest = rest[end...]
        }
        let last = pieces[pieces.count - 1]
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }

    private static func end(of piece: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= piece.count else { return nil }
        for start in text.startIndex...(text.endIndex - piece.count)
        where text[start..<(start + piece.count)].elementsEqual(piece) {
            return start + piece.count
        }
        return nil
    }
}
