/// The connection to a stub of a service: every answer takes some time, and every n-th is lost.
///
/// A lost answer is the interesting fault: the service has done its work, and the caller does not know.
package actor StubLine {
    private let latency: Duration
    private let losing: Int?
    private let clock: any Clock<Duration>
    private var asked = 0

    /// - Parameters:
    ///   - latency: how long an answer takes.
    ///   - losing: the n of the lost answers, such as 3 for every third; or nil for none.
    ///   - clock: the clock that measures the latency.
    package init(latency: Duration, losing: Int? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        precondition(losing.map { $0 > 0 } ?? true, "losing is \(losing ?? 0); each first, second, third … can be lost")
        self.latency = latency
        self.losing = losing
        self.clock = clock
    }

    /// Calls the service.
    /// - Parameter service: the work of the service when the call arrives.
    /// - Throws: ``LostAnswer``; what the service throws; `CancellationError` if the caller is cancelled before the call arrives.
    package func ask<Answer: Sendable>(_ service: @Sendable () async throws -> Answer) async throws -> Answer {
        asked += 1
        let number = asked
        try await clock.sleep(for: latency)
        let answer = try await service()
        if let losing, number.isMultiple(of: losing) { throw LostAnswer(number: number) }
        return answer
    }
}

/// An error: the service has done its work, but its answer did not arrive.
package struct LostAnswer: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of the call on its line, from 1.
    package var number: Int

    package var description: String { "no answer to request \(number); try again" }
}
