/// The storage of the items outside of the loop.
package protocol ItemServer: Sendable {
    /// Stores the present version of an item in place of an earlier one.
    /// - Parameter key: the same whenever this one save is repeated, and unique to it.
    /// - Throws: anything if there is no answer; the item may be stored nevertheless.
    func save(_ item: Todo.Item, key: String) async throws
}

/// A server in memory, which loses every third answer by default.
///
/// It recognises a repeated save by its key, and a late one by the number of its edit. The body of a cancelled effect may
/// still be running on another worker when the newer item has been stored.
package actor StubItemServer: ItemServer {
    /// The stored items, by their numbers.
    package private(set) var items: [Int: Todo.Item] = [:]
    /// How many edits it has received.
    package private(set) var saves = 0
    /// How often a completed save was repeated.
    package private(set) var repeats = 0
    private var keys: Set<String> = []
    private let line: StubLine

    package init(line: StubLine = StubLine(latency: .milliseconds(700), losing: 3)) { self.line = line }

    package func save(_ item: Todo.Item, key: String) async throws {
        try await line.ask { await self.keep(item, key: key) }
    }

    private func keep(_ item: Todo.Item, key: String) {
        guard keys.insert(key).inserted else {
            repeats += 1
            return
        }
        saves += 1
        if let kept = items[item.id], kept.edit > item.edit { return }
        items[item.id] = item
    }
}
