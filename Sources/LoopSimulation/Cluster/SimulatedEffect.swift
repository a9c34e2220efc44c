public import LoopCore

/// The steps of a simulated effect's body: an answer lists them in advance, and the cluster performs them.
///
/// Steps are performed in order. An effect that is killed with its worker begins again elsewhere, with another answer and other
/// random numbers. The events that it has sent before still count.
public struct SimulatedEffect<Event: Sendable> {
    /// The effect's name in the loop.
    public let id: EffectID
    /// How often this effect has failed before, or 0 at the first try.
    public let failures: Int
    /// Whether an earlier attempt may have had events applied before its worker was lost.
    public let isResumed: Bool
    /// Random numbers of this attempt, decided by the seed.
    public var random: SeededRandom

    enum Step {
        case pause(UInt64)
        case send(Event)
        case fail(any Error)
        case runForever
    }

    private(set) var steps: [Step] = []

    init(id: EffectID, failures: Int, isResumed: Bool, random: SeededRandom) {
        self.id = id
        self.failures = failures
        self.isResumed = isResumed
        self.random = random
    }

    /// Waits for a duration.
    public mutating func pause(_ duration: Duration) {
        steps.append(.pause(UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// Waits for a time that the seed decides, from zero to `longest`.
    public mutating func pause(upTo longest: Duration) {
        let limit = UInt64(max(0, longest.wholeNanoseconds))
        steps.append(.pause(UInt64.random(in: 0...limit, using: &random)))
    }

    /// Sends an event.
    public mutating func send(_ event: Event) { steps.append(.send(event)) }

    /// Makes the body throw an error. The feedback's policy decides what follows. Steps after this one are not performed.
    public mutating func fail(_ error: any Error) { steps.append(.fail(error)) }

    /// Makes the body throw an error with this text.
    public mutating func fail(_ message: String) { fail(SimulatedEffectError(message: message)) }

    /// Makes the body run until it is cancelled, without further events.
    public mutating func runForever() { steps.append(.runForever) }
}

/// The error of a simulated effect that fails with a text.
public struct SimulatedEffectError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text that was passed to `fail`.
    public var message: String

    /// The message.
    public var description: String { message }
}
