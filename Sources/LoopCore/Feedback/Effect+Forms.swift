// Shorter forms of common effects.

extension Effect {
    /// Sends one event at once.
    public static func event(_ event: Event) -> Effect { .events(event) }

    /// Sends these events, in order, at once.
    public static func events(of events: [Event]) -> Effect { Effect(body: .events(events)) }

    /// Runs `body` in a task of its own and sends the event that it returns, if any.
    public static func task(_ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Event?) -> Effect {
        Effect(body: .task(body))
    }

    /// This effect for a loop with other events.
    public func map<Other: Sendable>(_ embed: @escaping @Sendable (Event) -> Other) -> Effect<Other> {
        switch body {
        case .events(let events): Effect<Other>(body: .events(events.map(embed)))
        case .run(let run): .run { send in try await run(send.pullback(embed)) }
        case .task(let work): .task { try await work().map(embed) }
        }
    }
}

extension Send {
    /// A `Send` of other events into the same loop, which `embed` turns into the loop's.
    package func pullback<Local: Sendable>(_ embed: @escaping @Sendable (Local) -> Event) -> Send<Local> {
        Send<Local> { event, confirmed throws(SendRefusal) in
            if confirmed { return try await self.sendAndConfirm(embed(event)) }
            try await self(embed(event))
            return .initial
        }
    }
}
