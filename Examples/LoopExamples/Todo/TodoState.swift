extension Todo {
    /// Something to be done.
    public struct Item: Codable, Hashable, Sendable {
        /// From 1, in the order of adding.
        public var id: Int
        public var title: String
        public var isDone: Bool
        /// The number of its last edit, among the edits of all items.
        public var edit: Int

        public init(id: Int, title: String, isDone: Bool = false, edit: Int) {
            self.id = id
            self.title = title
            self.isDone = isDone
            self.edit = edit
        }
    }

    /// What the server knows of an item.
    public enum Sync: Codable, Equatable, Sendable {
        /// Not what it is now.
        case waiting
        /// All of it.
        case done
        /// It was sent, and the server did not answer.
        case failed(String)

        public var hasFailed: Bool { if case .failed = self { true } else { false } }
    }

    /// A line of the list.
    public struct Row: Codable, Equatable, Sendable {
        public var item: Item
        public var sync: Sync

        public init(item: Item, sync: Sync = .waiting) {
            self.item = item
            self.sync = sync
        }
    }

    public struct State: Codable, Equatable, Sendable {
        /// The title of an item that is not added yet.
        public var draft = ""
        /// In the order of adding.
        public var rows: [Row] = []
        /// How many edits there were.
        public var edits = 0

        public init() {}

        /// The item to send to the server now: of those that it does not know, the one that has waited longest.
        ///
        /// An item that is edited is another element of the set. So its effect is cancelled, and the next one begins: its
        /// own, unless others have waited longer.
        public var toSync: Set<Item> {
            let waiting = rows.lazy.filter { $0.sync == .waiting }.map(\.item)
            return Set(waiting.min { $0.edit < $1.edit }.map { [$0] } ?? [])
        }

        /// Changes an item; a change that makes no difference is none.
        mutating func edit(_ id: Int, _ change: (inout Item) -> Void) {
            guard let index = rows.firstIndex(where: { $0.item.id == id }) else { return }
            var item = rows[index].item
            change(&item)
            guard item != rows[index].item else { return }
            edits += 1
            item.edit = edits
            rows[index] = Row(item: item)
        }

        mutating func add(_ title: String) {
            edits += 1
            rows.append(Row(item: Item(id: rows.count + 1, title: title, edit: edits)))
        }

        /// Notes the outcome of a save.
        mutating func note(_ sync: Sync, of item: Item) {
            guard let index = rows.firstIndex(where: { $0.item == item }) else { return }
            rows[index].sync = sync
        }
    }
}
