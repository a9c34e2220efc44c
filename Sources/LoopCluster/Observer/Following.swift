package import LoopWire

/// What an observer follows.
package struct Following: Equatable, Sendable {
    /// How states come to the observer.
    package enum States: Equatable, Sendable {
        /// No states come.
        case none
        /// States come as a stream of updates.
        case updates(UpdateStream)
    }

    /// How states come, if they are followed at all.
    package var states: States
    /// The name of the section of the state that is followed; empty for the whole state.
    package var section: String
    /// Whether transitions are shown to people.
    package var transitions: Bool

    /// - Parameters:
    ///   - states: the states to follow.
    ///   - section: the section that an `UpdateStream` in `states` names too.
    ///   - transitions: whether to follow the transitions too.
    package init(_ states: States, section: String = "", transitions: Bool = false) {
        self.states = states
        self.section = section
        self.transitions = transitions
    }

    /// Follows the whole state, as often as the reducer publishes it.
    package static let wholeStates = Following(.updates(UpdateStream(.full)))

    /// Follows transitions for people, and no states.
    package static let transitions = Following(.none, transitions: true)

    /// Follows updates of the whole state, or of a section of it.
    package static func updates(_ mode: UpdateStream.Mode, of section: String = "", interval: UInt32 = 0) -> Following {
        Following(
            .updates(UpdateStream(mode, of: SectionID(name: section), interval: interval)), section: section)
    }

    /// The topics that the subscription must cover.
    package func topics(of loop: LoopID) -> [Topic] {
        let states: [Topic] =
            switch self.states {
            case .none: []
            case .updates(let stream): [.updates(loop, stream)]
            }
        return states + (transitions ? [.transitions(loop)] : []) + [.tick(loop)]
    }

    var hasStates: Bool { states != .none }

    /// Whether a state is made from the one before.
    package var dependsOnTheLast: Bool {
        switch states {
        case .none: false
        case .updates(let stream): stream.mode == .delta
        }
    }

    /// The interval of the stream of deltas that is followed, or nil if none is.
    var deltas: UInt32? {
        if case .updates(let stream) = states, stream.mode == .delta { stream.interval } else { nil }
    }

    /// How long an update may be delayed on its stream.
    var interval: Duration { if case .updates(let stream) = states { .milliseconds(stream.interval) } else { .zero } }
}
