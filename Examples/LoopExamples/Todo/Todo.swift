package import LoopCore

/// A to-do list that is stored on a server, one item after the other.
///
/// The request is a set of at most one item: the one that has waited the longest to be sent to the server. If an item is
/// edited while it is being sent, that is cancelled, and the newer text is sent instead.
///
/// The server receives each edit at least once. If a worker dies after it has sent one, the effect runs again elsewhere
/// with the same idempotency key. The server thus recognises the repetition.
package struct Todo: LoopDefinition {
    package enum Event: Codable, Equatable, Sendable {
        // Events of the user.
        case typeTitle(String)
        /// The typed title becomes an item.
        case add
        case rename(Int, String)
        case toggle(Int)
        /// Unconfirmed items are sent again.
        case syncAgain

        // Events of the effect.
        case synced(Item)
        case syncFailed(Item, String)

        private enum CodingKeys: CodingKey, CaseIterable {
            case typeTitle, add, rename, toggle, syncAgain, synced, syncFailed
        }
    }

    package static let examples: [Event] = {
        let item = Item(id: 1, title: "milk", edit: 1)
        return [
            .typeTitle("milk"), .add, .rename(1, "oat milk"), .toggle(1), .syncAgain, .synced(item),
            .syncFailed(item, "connection refused"),
        ]
    }()

    package static let name = "todo"
    package static let abstract = "Things to do, kept on a server: the oldest change first, one at a time."

    package var initial = State()
    private let server: any ItemServer

    package init(server: any ItemServer = StubItemServer()) { self.server = server }

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .typeTitle(let title): state.draft = title
        case .add:
            guard !state.draft.isEmpty else { return }
            state.add(state.draft)
            state.draft = ""
        case .rename(let id, let title): state.edit(id) { $0.title = title }
        case .toggle(let id): state.edit(id) { $0.isDone.toggle() }
        case .syncAgain:
            for index in state.rows.indices where state.rows[index].sync != .done { state.rows[index].sync = .waiting }
        case .synced(let item): state.note(.done, of: item)
        case .syncFailed(let item, let reason): state.note(.failed(reason), of: item)
        }
    }

    package var feedbacks: [Feedback<State, Event>] {
        [
            .react("sync", requests: \.toSync) { [server] item, context in
                .task {
                    try await server.save(item, key: context.idempotencyKey)
                    return .synced(item)
                }
            }
            .on(.workers)
            .retry(.exponential(max: 3))
            .failing { (item: Item, error) in .syncFailed(item, "\(error)") }
        ]
    }

    package func progress(of state: State) -> Progress? {
        Progress(done: state.rows.count { $0.sync == .done }, found: state.rows.count, unit: "items kept")
    }
}
