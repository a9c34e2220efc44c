/// The storage of the items outside of the loop.
public protocol ItemServer: Sendable {
    /// Keeps an item as it is now, in place of what was kept of it before.
    /// - Parameter key: the same whenever this one save is repeated, and of no other.
    /// - Throws: anything, where there is no answer; the item may be kept all the same.
    func save(_ item: Todo.Item, key: String) async throws
}

/// A server in memory, which loses every third answer by default.
///
/// It knows what comes again by its key, and what comes late by the number of its edit: the body of an effect that was
/// cancelled can still be on its way, from another worker, when the newer one has been kept.
public actor StubItemServer: ItemServer {
    /// What is kept, by the number of the item.
    public private(set) var items: [Int: Todo.Item] = [:]
    /// How many edits it has received.
    public private(set) var saves = 0
    /// How often a completed save was repeated.
    public private(set) var repeats = 0
    private var keys: Set<String> = []
    private let line: StubLine

    public init(line: StubLine = StubLine(latency: .milliseconds(700), losing: 3)) { self.line = line }

    public func save(_ item: Todo.Item, key: String) async throws {
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
