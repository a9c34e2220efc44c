extension Todo {
    /// An item of the list.
    package struct Item: Codable, Hashable, Sendable {
        /// A number from 1, in the order of adding.
        package var id: Int
        package var title: String
        package var isDone = false
        /// The number of its last edit, among the edits of all items.
        package var edit: Int
    }

    /// The server's version of an item.
    package enum Sync: Codable, Equatable, Sendable {
        /// The server has an older version, or none.
        case waiting
        /// The server has the present version.
        case done
        /// The item was sent, and the server did not answer.
        case failed(String)

        private enum CodingKeys: CodingKey, CaseIterable { case waiting, done, failed }

        package var hasFailed: Bool { if case .failed = self { true } else { false } }
    }

    /// A line of the list.
    package struct Row: Codable, Equatable, Sendable {
        package var item: Item
        package var sync = Sync.waiting
    }

    package struct State: Codable, Equatable, Sendable {
        /// The title of an item that is not added yet.
        package var draft = ""
        /// The rows, in the order of adding.
        package var rows: [Row] = []
        /// The number of edits so far.
        package var edits = 0

        /// The item to send to the server now: of those that it does not have, the one that has waited the longest.
        ///
        /// An edited item is another element of the set, so the effect of the old one is cancelled, and another begins: its
        /// own, unless others have waited longer.
        package var toSync: Set<Item> {
            let waiting = rows.lazy.filter { $0.sync == .waiting }.map(\.item)
            return Set(waiting.min { $0.edit < $1.edit }.map { [$0] } ?? [])
        }

        /// Changes an item. A change without a difference is ignored.
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
