/// What the body of one effect that runs may ask for.
package protocol EffectSource: AnyObject, Sendable {
    /// The newer requests, the same stream for all who ask.
    var newerRequests: AsyncStream<any Sendable> { get }
    var idempotencyKey: String { get }
}

/// The newer requests of one effect, from who hears of them to its body: a stream is made only for a body that asks.
///
/// What it returns is to be called without the lock that guards it.
package struct RequestLine: Sendable {
    package typealias Source = AsyncStream<any Sendable>.Continuation

    /// One that came before anybody asked.
    private var newest: (any Sendable)?
    private var isFinished = false
    private var made: (stream: AsyncStream<any Sendable>, source: Source)?

    package init() {}

    /// The stream: it keeps the newest request until it is taken.
    package mutating func stream() -> AsyncStream<any Sendable> {
        if let made { return made.stream }
        let (stream, source) = AsyncStream.makeStream(of: (any Sendable).self, bufferingPolicy: .bufferingNewest(1))
        // Nobody listens yet: this calls nobody.
        if let newest = newest.take() { source.yield(newest) }
        if isFinished { source.finish() }
        made = (stream, source)
        return stream
    }

    /// A newer request replaces one that was not taken.
    /// - Returns: what it is to be yielded to.
    package mutating func replace(with request: any Sendable) -> Source? {
        if made == nil, !isFinished { newest = request }
        return made?.source
    }

    /// There will be no more.
    /// - Returns: what is to be finished.
    package mutating func finish() -> Source? {
        isFinished = true
        return made?.source
    }
}
