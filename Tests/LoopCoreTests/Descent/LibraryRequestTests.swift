import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

/// What requests and switching effects do in the libraries, as their users know it. Effects answer at once, so that each
/// test is one sequence.
@Suite(.timeLimit(.minutes(5))) struct `Requests as in the libraries` {
    private struct Pages: Sendable, Equatable {
        var query: String?
        var photos: Set<String> = []
        var downloads: [String: Int] = [:]
        var log: [String] = []
    }

    private enum PageEvent: Sendable {
        case query(String?)
        case photos(Set<String>)
        case downloads([String: Int])
        case note(String)
    }

    private static func loop(_ feedbacks: Feedback<Pages, PageEvent>...) -> Loop<Pages, PageEvent> {
        Loop(
            initial: Pages(),
            reducer: { state, event in
                switch event {
                case .query(let query): state.query = query
                case .photos(let photos): state.photos = photos
                case .downloads(let downloads): state.downloads = downloads
                case .note(let note): state.log.append(note)
                }
            }, feedbacks: feedbacks)
    }

    @Test func `a request runs once while it stays equal, and again after nil`() {
        let loop = Self.loop(.react(request: \.query, effects: { .event(.note($0)) }))
        for query in ["a", "a", "b", nil, "b"] { loop.send(.query(query)) }
        #expect(loop.state.log == ["a", "b", "b"])
    }

    @Test func `lensing runs at each state that has a value`() {
        let loop = Self.loop(.lensing(state: { $0.log.count < 3 ? $0.query : nil }, effects: { .event(.note($0)) }))
        loop.send(.query("a"))
        #expect(loop.state.log == ["a", "a", "a"])
    }

    @Test func `the first value after nil runs, and the next ones do not until there was nil`() {
        let loop = Self.loop(.firstValueAfterNil(\.query, effects: { .event(.note($0)) }))
        for query in ["a", "b", nil, "c", "d"] { loop.send(.query(query)) }
        #expect(loop.state.log == ["a", "c"])
    }

    @Test func `becoming true runs at the edge`() {
        let loop = Self.loop(
            .whenBecomesTrue({ $0.query != nil }, effects: { .event(.note($0.query ?? "")) }))
        for query in ["a", "b", nil, "c"] { loop.send(.query(query)) }
        #expect(loop.state.log == ["a", "c"])
    }

    @Test func `each element of a set runs once while it stays`() {
        let loop = Self.loop(.react(requests: \.photos, effects: { .event(.note($0)) }))
        for photos in [["a"], ["a", "b"], ["b"], ["a", "b"]] as [Set<String>] { loop.send(.photos(photos)) }
        #expect(loop.state.log == ["a", "b", "a"])
    }

    @Test func `what leaves the set is cancelled, and what it still sends is not reduced`() async {
        let log = Log()
        let loop = Self.loop(
            .react(
                requests: \.photos,
                effects: { photo in
                    .run { send in
                        await log.wait(for: "go on")
                        do {
                            try await send(.note(photo))
                            log.add("\(photo) sent")
                        } catch {
                            log.add("\(photo) \(error)")
                        }
                    }
                }))
        loop.send(.photos(["a", "b"]))
        loop.send(.photos(["b"]))
        log.add("go on")
        await log.wait(for: "a refused: the effect is no longer live")
        await log.wait(for: "b sent")
        #expect(loop.state.log == ["b"])
    }

    @Test func `a changed request of a key reaches the running effect`() async {
        let loop = Self.loop(
            .react(
                requests: \.downloads,
                effects: { first, updates in
                    .run { send in
                        try await send(.note("begins with \(first)"))
                        for await next in updates { try await send(.note("goes on with \(next)")) }
                    }
                }))
        loop.send(.downloads(["x": 1]))
        for await state in loop.states where state.log.count == 1 { break }
        loop.send(.downloads(["x": 2]))
        for await state in loop.states where state.log.count == 2 {
            #expect(state.log == ["begins with 1", "goes on with 2"])
            break
        }
    }

    @Test func `an event with a payload runs, another event cancels`() async {
        let log = Log()
        let loop = counting([
            .extracting(payload: { $0 > 0 ? $0 : nil }, effects: { .lasting("\($0)", log) })
        ])
        loop.send(1)
        await log.wait(for: "run 1")
        loop.send(2)
        await log.wait(for: "cancel 1")
        await log.wait(for: "run 2")
        loop.send(0)
        await log.wait(for: "cancel 2")
    }
}
