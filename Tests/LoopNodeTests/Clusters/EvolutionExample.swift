import LoopCore

/// Reads feeds. Schema 1 knew a feed by its address alone, and did not sum up.
struct Feeds: LoopDefinition {
    static let name = "feeds"
    static let schema = 2
    static let oldestSchema = 1

    struct Feed: Codable, Sendable, Equatable {
        var address: String
        var title: String
    }

    struct State: Codable, Sendable, Equatable {
        var unread: [String: Feed] = [:]
        var items: [String: Int] = [:]
        var summary: String?

        var addresses: Set<String> { Set(unread.keys) }
        var allItems: [String: Int]? { unread.isEmpty && !items.isEmpty ? items : nil }
    }

    enum Event: Codable, Sendable {
        case follow(Feed)
        case read(address: String, items: Int)
        case summary(String)
    }

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .follow(let feed): state.unread[feed.address] = feed
        case .read(let address, let items):
            state.unread[address] = nil
            state.items[address] = items
        case .summary(let text): state.summary = text
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            // Workers of schema 1 have this one too: its name, its placement and its requests are what they were.
            .react("read", requests: \.addresses) { address in
                .events(.read(address: address, items: address.count))
            }
            .on(.workers),
            // New in schema 2: asked for the state as it is when this build takes over, and run by workers of schema 2.
            .react("sum up", request: \.allItems) { items in
                .event(.summary("\(items.values.reduce(0, +)) items"))
            }
            .on(.workers),
        ]
    }

    func outcome(of state: State) -> Outcome? { state.summary.map { Outcome(text: $0) } }

    func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State {
        let first = try old.decode(First.State.self)
        let unread = first.unread.map { ($0, Feed(address: $0, title: $0)) }
        return State(unread: Dictionary(uniqueKeysWithValues: unread), items: first.items)
    }

    func migrateEvent(_ old: Encoded, from schema: Int) throws -> Event {
        switch try old.decode(First.Event.self) {
        case .follow(let address): .follow(Feed(address: address, title: address))
        case .read(let address, let items): .read(address: address, items: items)
        }
    }

    /// States and events as schema 1 encoded them.
    private enum First {
        struct State: Decodable {
            var unread: Set<String>
            var items: [String: Int]
        }

        enum Event: Decodable {
            case follow(String)
            case read(address: String, items: Int)
        }
    }
}
