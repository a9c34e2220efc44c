import LoopCore
import LoopNodeTesting
import Testing

/// Delivers letters, each by an effect of some worker.
struct Post: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var waiting: Set<Int> = []
        var delivered: [Int] = []
    }

    enum Event: Codable, Sendable {
        case posted(Int)
        case delivered(Int)
    }

    static let name = "post"
    let initial = State()
    var deliver: @Sendable (Int) async throws -> Void = { _ in }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .posted(let letter): state.waiting.insert(letter)
        case .delivered(let letter):
            state.waiting.remove(letter)
            state.delivered.append(letter)
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("deliver", requests: \.waiting) { [deliver] letter in
                .task {
                    try await deliver(letter)
                    return .delivered(letter)
                }
            }
            .on(.workers)
        ]
    }
}

@Test(.timeLimit(.minutes(5))) func `a letter arrives once, although its worker dies, and then the reducer`()
    async throws
{
    // This one never arrives.
    let slow = Post { _ in try await Task.sleep(for: .seconds(86_400)) }
    try await LocalCluster.run(Post(), workers: 0) { cluster in
        let first = try cluster.worker("first", running: slow)
        try await cluster.sendAndConfirm(.posted(7))
        try await cluster.untilStatus("the first has the letter") { $0.feedbacks[0].running == 1 }
        await first.kill()
        try await cluster.killReducer()
        try await cluster.startReducer()
        try cluster.worker("second")
        let (_, state) = try await cluster.until("the letter is delivered") { $0.waiting.isEmpty }
        #expect(state.delivered == [7])
    }
}
