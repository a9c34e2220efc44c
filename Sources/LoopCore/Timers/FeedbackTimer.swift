/// The timers of a feedback, for the owner of the state: their query, and the due time and the event of each.
package struct FeedbackTimer<State: Sendable, Event: Sendable>: Sendable {
    /// Makes a new query machine.
    let query: @Sendable () -> any FeedbackQuery<State, Event>
    /// The coding of the requests.
    let coding: RequestCoding?
    /// When a request is due.
    package let time: @Sendable (any Sendable) -> WallTime
    /// The event that a request sends when it is due.
    package let event: @Sendable (any Sendable) -> Event
    /// The time and the event of an encoded request.
    package let encodedTime: @Sendable (Span<UInt8>, any ValueCoder) throws -> WallTime
    package let encodedEvent: @Sendable (Span<UInt8>, any ValueCoder) throws -> Event

    init<Key: Hashable & Codable & Sendable>(
        _ name: String, _ source: KeyedSource<State, Key, WallTime>, event: @escaping @Sendable (Key) -> Event
    ) {
        let request = { @Sendable (any: any Sendable) -> TimerRequest<Key> in
            guard let request = any as? TimerRequest<Key> else {
                preconditionFailure("timer \(name) was handed a \(type(of: any)) for a \(TimerRequest<Key>.self)")
            }
            return request
        }
        query = { KeyedQuery<State, Event, Key, WallTime>(source) { TimerRequest(key: $0, time: $1) } }
        coding = RequestCoding(TimerRequest<Key>.self)
        time = { request($0).time }
        self.event = { event(request($0).key) }
        encodedTime = { try $1.decode(TimerRequest<Key>.self, from: $0).time }
        encodedEvent = { event(try $1.decode(TimerRequest<Key>.self, from: $0).key) }
    }

    private init<Part, PartEvent>(
        _ base: FeedbackTimer<Part, PartEvent>, query: @escaping @Sendable () -> any FeedbackQuery<State, Event>,
        embed: @escaping @Sendable (PartEvent) -> Event
    ) {
        self.query = query
        coding = base.coding
        time = base.time
        event = { embed(base.event($0)) }
        encodedTime = base.encodedTime
        encodedEvent = { embed(try base.encodedEvent($0, $1)) }
    }

    /// These timers in a loop whose state has this one as a part, at times or always.
    func pullback<Whole: Sendable, WholeEvent: Sendable>(
        value: @escaping @Sendable (Whole) -> State?, embedEvent: @escaping @Sendable (Event) -> WholeEvent,
        extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> FeedbackTimer<Whole, WholeEvent> {
        FeedbackTimer<Whole, WholeEvent>(
            self, query: { [query] in LocalQuery(makeBase: query, value: value, extractEvent: extractEvent) },
            embed: embedEvent)
    }
}

/// The request for one timer: its key, and the time at which it is due.
package struct TimerRequest<Key: Hashable & Codable & Sendable>: Hashable, Codable, Sendable {
    /// The purpose of the timer: an order, a customer.
    package var key: Key
    /// When the timer is due.
    package var time: WallTime

    /// Creates a request from its parts.
    package init(key: Key, time: WallTime) {
        self.key = key
        self.time = time
    }

    /// Reads the milliseconds of the time, then the key.
    /// - Throws: the decoding error if either is missing.
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        time = WallTime(milliseconds: try container.decode(Int64.self))
        key = try container.decode(Key.self)
    }

    /// Writes the milliseconds of the time, then the key.
    /// - Throws: the encoder's error.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(time.milliseconds)
        try container.encode(key)
    }
}
