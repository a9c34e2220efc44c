/// The newer requests of a keyed effect that continues, in order. A request that was not yet read is replaced by the next
/// one, because only the newest says what should be going on.
public struct RequestUpdates<Request: Sendable>: AsyncSequence, Sendable {
    /// Each element is one newer request.
    public typealias Element = Request
    /// The sequence ends without an error.
    public typealias Failure = Never

    private let updates: AsyncStream<any Sendable>

    init(_ updates: AsyncStream<any Sendable>) { self.updates = updates }

    /// Begins to read the newer requests. All iterators share one stream: each request goes to one of them.
    public func makeAsyncIterator() -> Iterator { Iterator(updates: updates.makeAsyncIterator()) }

    /// The iterator of the newer requests.
    public struct Iterator: AsyncIteratorProtocol {
        var updates: AsyncStream<any Sendable>.Iterator

        /// Waits for the next newer request.
        /// - Returns: nil once the effect is over or cancelled.
        public mutating func next() async -> Request? {
            while let update = await updates.next() {
                if let request = update as? Request { return request }
            }
            return nil
        }
    }
}

extension EffectContext {
    /// The newer requests of this effect. Only the first caller gets them.
    public func updates<Request: Sendable>(of type: Request.Type) -> RequestUpdates<Request> { RequestUpdates(updates) }
}
