import LoopCore

/// The build before the one in `EvolutionExample.swift`: schema 1.
struct FirstFeeds: LoopDefinition {
    static let name = "feeds"

    struct State: Codable, Sendable, Equatable {
        var unread: Set<String> = []
        var items: [String: Int] = [:]
    }

    enum Event: Codable, Sendable {
        case follow(String)
        case read(address: String, items: Int)
    }

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .follow(let address): state.unread.insert(address)
        case .read(let address, let items):
            state.unread.remove(address)
            state.items[address] = items
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("read", requests: \.unread) { address in
                .events(.read(address: address, items: address.count))
            }
            .on(.workers)
        ]
    }
}
