/// The connection to a stub of a service: every answer takes some time, and each n-th is lost.
///
/// A lost answer is the interesting fault: the service has done what it was asked for, and the caller does not know.
public actor StubLine {
    private let latency: Duration
    private let losing: Int?
    private let clock: any Clock<Duration>
    private var asked = 0

    /// - Parameters:
    ///   - latency: how long an answer takes.
    ///   - losing: which answers are lost: each third, if it is 3; nil: none.
    ///   - clock: what the latency is measured by.
    public init(latency: Duration, losing: Int? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        precondition(losing.map { $0 > 0 } ?? true, "losing is \(losing ?? 0); each first, second, third … can be lost")
        self.latency = latency
        self.losing = losing
        self.clock = clock
    }

    /// Asks the service.
    /// - Parameter service: what it does when the question has come.
    /// - Throws: ``LostAnswer``, and what the service throws; `CancellationError` when the caller is cancelled before the
    ///   question has come.
    public func ask<Answer: Sendable>(_ service: @Sendable () async throws -> Answer) async throws -> Answer {
        asked += 1
        let number = asked
        try await clock.sleep(for: latency)
        let answer = try await service()
        if let losing, number.isMultiple(of: losing) { throw LostAnswer(number: number) }
        return answer
    }
}

/// The service was asked and has done its part; its answer did not arrive.
public struct LostAnswer: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of the question on its line, from 1.
    public var number: Int

    public init(number: Int) { self.number = number }

    public var description: String { "no answer to request \(number); try again" }
}
