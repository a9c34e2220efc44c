import LoopCore
import Testing

/// A job: pages name files, files are downloaded. Written the way a user would.
private struct Downloads: LoopDefinition {
    struct File: Codable, Hashable, Sendable {
        var name: String
        var host: String { String(name.prefix { $0 != "/" }) }
    }

    struct State: Codable, Equatable, Sendable {
        var nextPage: Int? = 0
        var pending: [String: File] = [:]
        var done: [String] = []
    }

    enum Event: Codable, Sendable {
        case response([File], next: Int?)
        case downloaded(File)
        case failed(File)
    }

    static let name = "downloads"
    let initial = State()
    let pages: [[String]]

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .response(let files, let next):
            state.nextPage = next
            for file in files { state.pending[file.name] = file }
        case .downloaded(let file), .failed(let file):
            state.pending[file.name] = nil
            state.done.append(file.name)
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("fetch", request: \.nextPage) { page in
                .run { send in try await send(.response(try await load(page), next: next(page))) }
            },
            .react("download", requests: \.pending) { file in
                .run { send in try await send(.downloaded(file)) }
            }
            .retry(.exponential(max: 5))
            .on(.workers)
            .limited(to: 4, perGroup: 2) { (file: File) in file.host }
            .failing { (file: File, _) in .failed(file) },
        ]
    }

    func outcome(of state: State) -> Outcome? {
        state.nextPage == nil && state.pending.isEmpty ? Outcome(text: "\(state.done.count) files") : nil
    }

    private func load(_ page: Int) async throws -> [File] { pages[page].map(File.init) }
    private func next(_ page: Int) -> Int? { page + 1 < pages.count ? page + 1 : nil }
}

@Suite struct `A job of downloads` {
    @Test func `a job runs to its outcome and ends its loop`() async {
        let pages = [["a/1", "a/2", "a/3"], ["b/1"], ["a/4", "b/2"]]
        let loop = Loop(Downloads(pages: pages))
        var last: Downloads.State?
        for await state in loop.states { last = state }
        // A loop that has ended before the subscription keeps its last state.
        last = last ?? loop.state
        #expect(last?.done.sorted() == ["a/1", "a/2", "a/3", "a/4", "b/1", "b/2"])
        #expect(loop.outcome == Outcome(text: "6 files"))
    }

    @Test func `one word moves a feedback to the workers`() {
        let here = Feedback<Int, Int>.react("a", request: \.self) { (_: Int) in .none }.on(.local)
        let there = Feedback<Int, Int>.react("a", request: \.self) { (_: Int) in .none }.on(.workers)
        #expect(here.placement == .local)
        #expect(there.placement == .workers(group: "default"))
        #expect(here.on(.workers(group: "gpu")).placement == .workers(group: "gpu"))
    }
}
