internal import LoopCollections
internal import LoopView

/// One view as a page: its newest tree, and the browsers that follow it.
final class LivePage: Sendable {
    private struct State {
        var tree: ViewTree
        var revision: UInt64 = 1
        var streams: [ObjectIdentifier: EventStream] = [:]
        var lastUse: ContinuousClock.Instant
        var isClosed = false
    }

    private let make: @Sendable () -> ViewTree
    private let state: Locked<State>
    private let drawing = Locked<Task<Void, Never>?>(nil)
    /// Distinguishes this page's revisions from those of other pages.
    private let tag: String

    init(_ view: some View, tag: String, framesPerSecond: Int) {
        make = { ViewTree(view) }
        self.tag = tag
        state = Locked(State(tree: ViewTree(view), lastUse: .now))
        let frames = Frames(of: view, perSecond: framesPerSecond)
        // Detached, because it follows the view as long as this page lives, whichever task has made the page.
        let task = Task.detached { [weak self] in
            for await tree in frames {
                guard let self else { return }
                self.show(tree)
            }
        }
        drawing.withLock { $0 = task }
    }

    deinit { drawing.withLock { $0 }?.cancel() }

    /// Ends the page: the streams of its browsers end, and nothing is drawn any more.
    func close() {
        drawing.withLock { $0 }?.cancel()
        let streams = state.withLock { state in
            state.isClosed = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.close() }
    }

    /// The view as it is now, and the revision from which a browser continues.
    func now() -> (html: String, revision: String) {
        let tree = make()
        let revision = state.withLock { state in
            state.lastUse = .now
            // A browser that got a newer tree than the others receives the whole view once more.
            return tree == state.tree ? state.revision : 0
        }
        return (HTML.render(tree.root, .root), name(revision))
    }

    /// Performs a user's action on the view as it is now.
    /// - Returns: false if the element no longer exists.
    func perform(_ action: ViewAction) -> Bool {
        state.withLock { $0.lastUse = .now }
        return make().perform(action)
    }

    /// The view as it is now.
    func tree() -> ViewTree { make() }

    /// Adds the stream of a browser that has a revision.
    func add(_ stream: EventStream, from revision: String) {
        let isClosed = state.withLock { state in
            state.lastUse = .now
            state.streams[ObjectIdentifier(stream)] = stream
            let current = name(state.revision)
            let isCurrent = revision == current
            // A beat shows the browser that it is connected.
            stream.queue(
                isCurrent ? PageEvent.beat : PageEvent.parts([Patch(state.tree.root, .root)], revision: current))
            return state.isClosed
        }
        if isClosed { stream.close() }
        stream.wake()
    }

    func remove(_ stream: EventStream) {
        state.withLock { state in
            state.lastUse = .now
            state.streams[ObjectIdentifier(stream)] = nil
        }
    }

    func beat() {
        for stream in state.withLock({ Array($0.streams.values) }) {
            stream.queue(PageEvent.beat)
            stream.wake()
        }
    }

    /// When the page was last used, or nil while a browser follows it.
    var idleSince: ContinuousClock.Instant? { state.withLock { $0.streams.isEmpty ? $0.lastUse : nil } }

    private func name(_ revision: UInt64) -> String { "\(tag)-\(revision)" }

    /// Only the drawing task calls this, so no other call changes the tree meanwhile.
    private func show(_ new: ViewTree) {
        let patches = Patch.patches(from: state.withLock { $0.tree }, to: new)
        let streams = state.withLock { state -> [EventStream] in
            state.tree = new
            if patches.isEmpty { return [] }
            state.revision += 1
            // Queued under the lock, so that every stream gets its events in the order of revisions.
            let event = PageEvent.parts(patches, revision: name(state.revision))
            for stream in state.streams.values { stream.queue(event) }
            return Array(state.streams.values)
        }
        for stream in streams { stream.wake() }
    }
}
