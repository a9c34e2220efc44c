package import LoopCore

/// A form with a user name that is looked up while the user types, and that can be submitted once.
///
/// Late results of an old pause or an old look-up need no check: when the state requests something else, the effect is
/// cancelled, and its later events are refused.
///
/// It has no password, because a state is in the journal, and every observer of the loop can read it.
package struct SignIn: LoopDefinition {
    package enum Event: Codable, Equatable, Sendable {
        // Events of the user who fills in the form.
        case typeName(String)
        case acceptTerms(Bool)
        case submit

        // Events of the effects.
        /// Nothing was typed for a moment.
        case pausedTyping
        case checked(isFree: Bool)
        case checkFailed(String)
        case submitted(isWelcome: Bool)
        case submitFailed(String)

        private enum CodingKeys: CodingKey, CaseIterable {
            case typeName, acceptTerms, submit, pausedTyping, checked, checkFailed, submitted, submitFailed
        }
    }

    package static let examples: [Event] = [
        .typeName("ada"), .acceptTerms(true), .submit, .pausedTyping, .checked(isFree: true),
        .checkFailed("connection refused"), .submitted(isWelcome: true), .submitFailed("connection refused"),
    ]

    package static let name = "sign-in"
    package static let abstract = "A form whose user name is checked while it is typed, and that is submitted once."

    package var initial = State()
    /// How long the user must pause typing before the name is checked.
    package var pause = Duration.milliseconds(300)
    private let directory: any UserDirectory
    private let clock: any Clock<Duration>

    package init(directory: any UserDirectory = StubUserDirectory(), clock: any Clock<Duration> = ContinuousClock()) {
        self.directory = directory
        self.clock = clock
    }

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .typeName(let name):
            guard state.status.isEditable, name != state.userName else { return }
            state.userName = name
            state.check = name.isEmpty ? .none : .typing
            state.status = .editing
        case .acceptTerms(let hasAccepted):
            if state.status.isEditable { state.hasAcceptedTerms = hasAccepted }
        case .submit:
            if state.canSubmit { state.status = .submitting }
        case .pausedTyping: state.check = .asking
        case .checked(let isFree): state.check = isFree ? .free : .taken
        case .checkFailed(let reason): state.check = .failed(reason)
        case .submitted(isWelcome: true): state.status = .signedIn
        case .submitted(isWelcome: false):
            state.check = .taken
            state.status = .failed("somebody else was faster")
        case .submitFailed(let reason): state.status = .failed(reason)
        }
    }

    /// The pause is measured in the reducer's process; only names that need a look-up go to a worker.
    ///
    /// If a worker dies while it submits, another one repeats the submission with the same key, and the directory answers
    /// it like the first. Meanwhile, the form cannot be changed.
    package var feedbacks: [Feedback<State, Event>] {
        [
            .react("pause", request: \.nameBeingTyped) { [clock, pause] (_: String) in
                .task {
                    try await clock.sleep(for: pause)
                    return .pausedTyping
                }
            },
            .react("check", request: \.nameToCheck) { [directory] name in
                .task { .checked(isFree: try await directory.isFree(name)) }
            }
            .on(.workers)
            .retry(Self.retry)
            .failing { (_: String, error) in .checkFailed("\(error)") },
            .react("submit", request: \.nameToSubmit) {
                [directory] name, context in
                .task { .submitted(isWelcome: try await directory.signIn(name, key: context.idempotencyKey)) }
            }
            .on(.workers)
            .retry(Self.retry)
            .failing { (_: String, error) in .submitFailed("\(error)") },
        ]
    }

    private static let retry = Retry.exponential(max: 3)
}
