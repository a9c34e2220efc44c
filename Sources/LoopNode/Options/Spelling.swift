/// Finds the word that was probably meant.
enum Spelling {
    /// The word with the fewest edits (insert, delete, replace, swap neighbours), or the only one that begins with the text.
    /// Returns nil if no word is near enough.
    static func nearest(to text: String, in words: [String]) -> String? {
        let typed = Array(text.lowercased())
        guard !typed.isEmpty else { return nil }
        let ranked = words.map { (word: $0, edits: edits(typed, Array($0.lowercased()))) }
        let limit = max(1, min(3, typed.count / 3))
        if let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= limit { return best.word }
        let longer = words.filter { typed.count >= 2 && $0.lowercased().hasPrefix(text.lowercased()) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// The optimal string alignment distance.
    private static func edits(_ a: [Character], _ b: [Character]) -> Int {
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { row[j] = min(row[j], before[j - 2] + 1) }
            }
            before = last
            last = row
        }
        return last[b.count]
    }
}
