/// One loop: its initial state, its reducer and its feedbacks. One definition runs in a process (`Loop`), across
/// processes (`ReducerNode`, `EffectNode`) and in a simulation, without a change.
///
/// `reduce` must be a function of its arguments: no clock, no UUIDs, no unseeded random numbers, no dependence on the
/// order of a `Set` or `Dictionary`. What it needs of these comes in the `Transition`.
public protocol LoopDefinition<State, Event>: Sendable {
    /// The data of the loop. Snapshots and updates hold it encoded, under the version `schema`.
    associatedtype State: Codable & Sendable
    /// The occurrences that the loop reacts to. Only events change the state. The journal holds each one encoded, under
    /// the version `schema`.
    associatedtype Event: Codable & Sendable

    /// The loop's name, the same in every process; part of every address. At most 64 bytes of UTF-8.
    static var name: String { get }

    /// The version of `State` and `Event` as they are encoded, at least 1. Peers of a newer version are refused, and those
    /// of one older than `oldestSchema`.
    static var schema: Int { get }

    /// The oldest schema whose states and events `migrateState` and `migrateEvent` can read; `schema` unless said
    /// otherwise.
    static var oldestSchema: Int { get }

    /// The state before the first event.
    var initial: State { get }

    /// Inferred: `Void` where `reduce` is implemented without a transition, `NeedsTransition` where it is only implemented
    /// with one.
    associatedtype Reduction

    /// Folds one event into the state. Need not be implemented where `reduce` with a transition is.
    func reduce(_ state: inout State, _ event: Event) -> Reduction

    /// Folds one event into the state, with the transition's number, journaled time and random numbers at hand. Need not be
    /// implemented where `reduce` without a transition is; where both are, this one is called.
    func reduce(_ state: inout State, _ event: Event, _ transition: Transition)

    /// One event of each case, for `loopctl schema` and for what is said of an event that cannot be decoded: the cases of an enum
    /// are known from examples alone. None unless said otherwise.
    static var examples: [Event] { get }

    /// What should be going on, as a function of the state. Names are unique within the loop.
    var feedbacks: [Feedback<State, Event>] { get }

    /// The parts of the state that observers may follow alone, by name. None unless said otherwise.
    var sections: [StateSection<State>] { get }

    /// The loop's result, once it has one: the loop then ends. Nil: it runs on.
    func outcome(of state: State) -> Outcome?

    /// How far a loop that is a job has come, for people. Nil: it does not say.
    func progress(of state: State) -> Progress?

    /// The answer to an event that was asked with: a function of the event and of the state right after the event was
    /// applied, and of nothing else. Nil, unless said otherwise: it has none.
    ///
    ///     func answer(to event: Event, in state: State) -> (any Codable & Sendable)? {
    ///         switch event {
    ///         case .withdraw(let account, _): Receipt(balance: state.balances[account] ?? 0)
    ///         case .opened: nil
    ///         }
    ///     }
    ///
    /// It is asked for events whose sender has called `ask`, and for no others. Encoded it has at most 512 KiB.
    /// - Parameters:
    ///   - event: the event that was applied.
    ///   - state: the state after it, and before the next one.
    func answer(to event: Event, in state: State) -> (any Codable & Sendable)?

    /// The state that an older definition of this loop has left in a snapshot, in the present schema. Decodes it as it is
    /// unless said otherwise.
    /// - Parameters:
    ///   - old: the encoded state.
    ///   - schema: the one that wrote it, from `oldestSchema` up to below `schema`.
    /// - Throws: anything, where it cannot be read; the reducer then does not start.
    func migrateState(_ old: Encoded, from schema: Int) throws -> State

    /// The same, with the time of that state: for what the present state knows times of, such as a deadline. Calls the one
    /// without a time unless said otherwise; where both are implemented, this one is called.
    /// - Parameters:
    ///   - old: the encoded state.
    ///   - schema: the one that wrote it, from `oldestSchema` up to below `schema`.
    ///   - time: that of the last event before the snapshot, which is journaled: the same whenever the state is migrated. 1970
    ///     where there was none.
    /// - Throws: anything, where it cannot be read; the reducer then does not start.
    func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State

    /// An event of a worker or sender that still has an older definition, in the present schema. Decodes it as it is unless
    /// said otherwise.
    /// - Parameters:
    ///   - old: the encoded event.
    ///   - schema: the one that wrote it, from `oldestSchema` up to below `schema`.
    /// - Throws: anything, where it cannot be read; the event is then refused as undecodable.
    func migrateEvent(_ old: Encoded, from schema: Int) throws -> Event
}

extension LoopDefinition {
    /// The feedbacks, with the parts of combined ones in their place: what every runtime works with.
    public var allFeedbacks: [Feedback<State, Event>] { feedbacks.flatMap(\.flattened) }

    /// 1, for a definition that does not say otherwise.
    public static var schema: Int { 1 }

    /// `schema`: a definition that does not say otherwise migrates nothing.
    public static var oldestSchema: Int { schema }

    /// None, for a definition that does not say otherwise.
    public static var examples: [Event] { [] }

    /// Lets the compiler infer that the definition needs a transition.
    public func reduce(_ state: inout State, _ event: Event) -> NeedsTransition {
        preconditionFailure(
            "\(Self.self) reduces events with a transition only; call reduce(_:_:_:), or implement reduce(_:_:) too")
    }

    /// No sections, for a definition that does not say otherwise: observers follow the whole state.
    public var sections: [StateSection<State>] { [] }

    /// Nil, for a definition that does not say otherwise: the loop is not a job, and runs until it is stopped.
    public func outcome(of state: State) -> Outcome? { nil }

    /// Nil, for a definition that does not say otherwise: the loop reports no progress.
    public func progress(of state: State) -> Progress? { nil }

    /// Nil, for a definition that does not say otherwise: it answers nothing.
    public func answer(to event: Event, in state: State) -> (any Codable & Sendable)? { nil }

    /// Decodes the old bytes as the present `State`. This is enough where the encoding has only gained optional fields.
    /// - Throws: the decoding error, where the bytes are not a present `State`.
    public func migrateState(_ old: Encoded, from schema: Int) throws -> State { try old.decode(State.self) }

    /// Calls the one without a time.
    /// - Throws: what that throws.
    public func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State {
        try migrateState(old, from: schema)
    }

    /// Decodes the old bytes as the present `Event`. This is enough where the encoding has only gained optional fields.
    /// - Throws: the decoding error, where the bytes are not a present `Event`.
    public func migrateEvent(_ old: Encoded, from schema: Int) throws -> Event { try old.decode(Event.self) }
}

extension LoopDefinition where Reduction == Void {
    // Only here: a definition that implements neither `reduce` does not compile.
    /// Calls `reduce` without the transition, for a definition that does not need it.
    public func reduce(_ state: inout State, _ event: Event, _ transition: Transition) { reduce(&state, event) }
}

/// Marks a definition whose `reduce` needs the transition.
public struct NeedsTransition: Sendable {}

/// What a reducer may know besides state and event; the same again at replay.
public struct Transition: Sendable {
    /// The number of this transition.
    public let seq: Seq
    /// When the reducer journaled the event; never goes back from one transition to the next.
    public let time: WallTime
    /// Random numbers seeded by the history and the seq.
    public var random: SeededRandom

    /// Creates the transition of one event.
    /// - Parameters:
    ///   - seq: the number of the transition.
    ///   - time: the time of day at which the reducer received the event.
    ///   - seed: the history's value. The same seed and seq give the same random numbers at replay.
    public init(seq: Seq, time: WallTime, seed: UInt64) {
        self.seq = seq
        self.time = time
        random = SeededRandom(seed: seed ^ (seq.value &* 0xd6e8_feb8_6659_fd93))
    }
}

/// The end of a loop that is a job.
public struct Outcome: Codable, Equatable, Sendable {
    /// What is printed for people.
    public var text: String
    /// The same as a JSON document, for programs; nil where there is none.
    public var json: String?
    /// The exit code that carries the verdict: 0 and 1 are the job's; 2 and 64 are reserved for "could not run" and
    /// "wrong usage".
    public var exitCode: Int32

    /// Creates an outcome from its parts.
    public init(text: String, json: String? = nil, exitCode: Int32 = 0) {
        self.text = text
        self.json = json
        self.exitCode = exitCode
    }
}

/// How far a job has come.
public struct Progress: Codable, Equatable, Sendable {
    /// Units finished.
    public var done: Int
    /// Units known so far, finished ones included; may grow.
    public var found: Int
    /// What is counted, in the plural: "pages".
    public var unit: String
    /// Anything worth a few words besides the numbers: "3 broken".
    public var note: String?

    /// Creates a progress from its parts; `done` and `found` are numbers of units.
    public init(done: Int, found: Int, unit: String, note: String? = nil) {
        self.done = done
        self.found = found
        self.unit = unit
        self.note = note
    }
}
