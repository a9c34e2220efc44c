package import LoopCore

/// A person and a machine play catch.
///
/// Both players send events. The person is outside and uses a button or a command line. The machine is a feedback that
/// throws back whenever it has the ball. In a cluster it is a worker. If the worker dies with the ball, the state still
/// says that the machine has it, so another worker throws it back.
package struct PlayCatch: LoopDefinition {
    package enum Player: String, Codable, Sendable {
        case person, machine
    }

    package struct State: Codable, Equatable, Sendable {
        /// The player who has the ball.
        package var holder = Player.person
        /// How often the ball was caught.
        package var catches = 0

        var isMachinesTurn: Bool { holder == .machine }
    }

    /// A throw of one player to the other.
    package enum Event: Codable, Equatable, Sendable {
        case throwToMachine, throwToPerson

        private enum CodingKeys: CodingKey, CaseIterable { case throwToMachine, throwToPerson }
    }

    package static let examples: [Event] = [.throwToMachine, .throwToPerson]

    package static let name = "play-catch"
    package static let abstract = "A person and a machine throw a ball; the machine is a feedback."

    package var initial = State()
    /// How long the machine keeps the ball.
    package var hold = Duration.seconds(1)
    private let clock: any Clock<Duration>

    package init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// Only the player who has the ball can throw it.
    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch (event, state.holder) {
        case (.throwToMachine, .person): state.holder = .machine
        case (.throwToPerson, .machine): state.holder = .person
        case (.throwToMachine, .machine), (.throwToPerson, .person): return
        }
        state.catches += 1
    }

    package var feedbacks: [Feedback<State, Event>] {
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
