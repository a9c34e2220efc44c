public import LoopCore

/// A person and a machine play catch.
///
/// Both players send events. The person is outside and uses a button or a command line. The machine is a feedback that
/// throws back whenever it has the ball. In a cluster it is a worker. If the worker dies with the ball, the state still
/// says that the machine has it, so another worker throws it back.
public struct PlayCatch: LoopDefinition {
    public enum Player: String, Codable, Sendable {
        case person, machine
    }

    public struct State: Codable, Equatable, Sendable {
        /// The player who has the ball.
        public var holder = Player.person
        /// How often the ball was caught.
        public var catches = 0

        var isMachinesTurn: Bool { holder == .machine }
    }

    /// A throw of one player to the other.
    public enum Event: Codable, Equatable, Sendable {
        case throwToMachine, throwToPerson
    }

    public static let examples: [Event] = [.throwToMachine, .throwToPerson]

    public static let name = "play-catch"
    public static let abstract = "A person and a machine throw a ball; the machine is a feedback."

    public var initial = State()
    /// How long the machine keeps the ball.
    public var hold = Duration.seconds(1)
    private let clock: any Clock<Duration>

    public init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// Only the player who has the ball can throw it.
    public func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch (event, state.holder) {
        case (.throwToMachine, .person): state.holder = .machine
        case (.throwToPerson, .machine): state.holder = .person
        case (.throwToMachine, .machine), (.throwToPerson, .person): return
        }
        state.catches += 1
    }

    public var feedbacks: [Feedback<State, Event>] {
        [
            .whenBecomesTrue("machine", state: \.isMachinesTurn) { [clock, hold] _ in
                .task {
                    try await clock.sleep(for: hold)
                    return .throwToPerson
                }
            }
            .on(.workers)
        ]
    }
}
