import LoopLock

/// The newer requests of one effect, from who hears of them to its body: a stream is made only for a body that asks.
package final class RequestLine: Sendable {
    private struct State {
        /// One that came before anybody asked.
        var newest: (any Sendable)?
        var isFinished = false
        var made: (stream: AsyncStream<any Sendable>, source: AsyncStream<any Sendable>.Continuation)?
    }

    private let state = Locked(State())

    package init() {}

    /// The stream, the same for all who ask: it keeps the newest request until it is taken.
    var stream: AsyncStream<any Sendable> {
        state.withLock { state in
            if let made = state.made { return made.stream }
            let (stream, source) = AsyncStream.makeStream(of: (any Sendable).self, bufferingPolicy: .bufferingNewest(1))
            // Nobody listens yet: this calls nobody.
            if let newest = state.newest.take() { source.yield(newest) }
            if state.isFinished { source.finish() }
            state.made = (stream, source)
            return stream
        }
    }

    /// A newer request replaces one that was not taken.
    package func yield(_ request: any Sendable) {
        let source = state.withLock { state in
            if state.made == nil, !state.isFinished { state.newest = request }
            return state.made?.source
        }
        source?.yield(request)
    }

    /// There will be no more.
    package func finish() {
        let source = state.withLock { state in
            state.isFinished = true
            return state.made?.source
        }
        source?.finish()
    }
}
