/// One loop: its initial state, its reducer and its feedbacks. One definition runs in a process (`Loop`), across
/// processes (`ReducerNode`, `EffectNode`) and in a simulation.
///
/// `reduce` must be a function of its arguments: no clock, no UUIDs, no unseeded random numbers, no dependence on the order
/// of a `Set` or `Dictionary`. The `Transition` has a time and random numbers for it.
public protocol LoopDefinition<State, Event>: Sendable {
    /// The data of the loop. Snapshots and updates contain it encoded, under the version `schema`.
    associatedtype State: Codable & Sendable
    /// The occurrences that the loop reacts to. Only events change the state. The journal contains each one encoded, under
    /// the version `schema`.
    associatedtype Event: Codable & Sendable

    /// The loop's name, the same in every process. It is part of every address, and has at most 64 bytes of UTF-8.
    static var name: String { get }

    /// The version of the encoding of `State` and `Event`, at least 1. Peers of a newer version are refused, and so are
    /// those older than `oldestSchema`.
    static var schema: Int { get }

    /// The oldest schema whose states and events `migrateState` and `migrateEvent` can read. `schema` by default.
    static var oldestSchema: Int { get }

    /// The state before the first event.
    var initial: State { get }

    /// Folds one event into the state, with the transition's number, journaled time and random numbers.
    func reduce(into state: inout State, _ event: Event, _ transition: Transition)

    /// One event of each case, because the cases of an enum are known from examples alone. `loopctl schema` and errors
    /// about undecodable events use them. Empty by default.
    static var examples: [Event] { get }

    /// What should be going on, as a function of the state. Names are unique within the loop.
    var feedbacks: [Feedback<State, Event>] { get }

    /// The parts of the state that observers may follow alone, by name. Empty by default.
    var sections: [StateSection<State>] { get }

    /// The loop's result, or nil while it runs on. The loop ends with it.
    func outcome(of state: State) -> Outcome?

    /// How far a loop that is a job has come, for people; or nil if it does not say.
    func progress(of state: State) -> Progress?

    /// The answer to an event of `ask`. An enum if events have answers of several types. `Never` by default, which answers nothing.
    associatedtype Answer: Codable & Sendable = Never

    /// The answer to an event of `ask`, or nil if there is none, as by default. It must be a function of the event and of
    /// the state right after the event was applied, and of nothing else.
    ///
    ///     func answer(to event: Event, in state: State) -> Receipt? {
    ///         switch event {
    ///         case .withdraw(let account, _): Receipt(balance: state.balances[account] ?? 0)
    ///         case .opened: nil
    ///         }
    ///     }
    ///
    /// It is called only for events whose sender has called `ask`. An encoded answer has at most 512 KiB.
    /// - Parameters:
    ///   - event: the event that was applied.
    ///   - state: the state after it, and before the next one.
    func answer(to event: Event, in state: State) -> Answer?

    /// Reads a state that an older definition of this loop wrote into a snapshot, in the present schema. By default it
    /// decodes the bytes as the present `State`.
    /// - Parameters:
    ///   - old: the encoded state.
    ///   - schema: the schema that wrote it, from `oldestSchema` up to below `schema`.
    ///   - time: the journaled time of the last event before the snapshot, the same at each migration. 1970 if there was no
    ///     event. A present state may need it for a deadline.
    /// - Throws: anything if it cannot be read; the reducer then does not start.
    func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State

    /// Reads an event of a worker or sender that still has an older definition, in the present schema. By default it
    /// decodes the bytes as the present `Event`.
    /// - Parameters:
    ///   - old: the encoded event.
    ///   - schema: the schema that wrote it, from `oldestSchema` up to below `schema`.
    /// - Throws: anything if it cannot be read; the event is then refused as undecodable.
    func migrateEvent(_ old: Encoded, from schema: Int) throws -> Event
}

extension LoopDefinition {
    /// The feedbacks, with combined ones replaced by their parts. Every runtime works with these.
    package var allFeedbacks: [Feedback<State, Event>] { feedbacks.flatMap(\.flattened) }

    /// 1 by default.
    public static var schema: Int { 1 }

    /// `schema` by default: the definition migrates nothing.
    public static var oldestSchema: Int { schema }

    /// Empty by default.
    public static var examples: [Event] { [] }

    /// Empty by default: observers follow the whole state.
    public var sections: [StateSection<State>] { [] }

    /// Nil by default: the loop is not a job, and runs until it is stopped.
    public func outcome(of state: State) -> Outcome? { nil }

    /// Nil by default: the loop reports no progress.
    public func progress(of state: State) -> Progress? { nil }

    /// Nil by default: the loop answers nothing.
    public func answer(to event: Event, in state: State) -> Answer? { nil }

    /// Decodes the old bytes as the present `State`. This suffices if the encoding has only gained optional fields.
    /// - Throws: the decoding error if the bytes are not a present `State`.
    public func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State {
        try old.decode(State.self)
    }

    /// Decodes the old bytes as the present `Event`. This suffices if the encoding has only gained optional fields.
    /// - Throws: the decoding error if the bytes are not a present `Event`.
    public func migrateEvent(_ old: Encoded, from schema: Int) throws -> Event { try old.decode(Event.self) }
}

/// What a reducer may use besides state and event. It is the same at replay.
public struct Transition: Sendable {
    /// The number of this transition.
    public let seq: Seq
    /// The time at which the reducer journaled the event. It never decreases from one transition to the next.
    public let time: WallTime
    /// Random numbers, seeded by the history and the seq.
    public var random: SeededRandom

    /// Creates the transition of one event.
    /// - Parameters:
    ///   - seq: the number of the transition.
    ///   - time: the time of day at which the reducer received the event.
    ///   - seed: a number of the history. Equal seeds and seqs give equal random numbers at replay.
    public init(seq: Seq, time: WallTime, seed: UInt64) {
        self.seq = seq
        self.time = time
        random = SeededRandom(seed: seed ^ (seq.value &* 0xd6e8_feb8_6659_fd93))
    }
}

/// The result of a loop that is a job.
public struct Outcome: Codable, Equatable, Sendable {
    /// The text that is printed for people.
    public var text: String
    /// The result as a JSON document for programs, or nil if there is none.
    public var json: String?
    /// The exit code that carries the verdict. 0 and 1 are the job's; 2 and 64 are reserved for "could not run" and "wrong usage".
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
    /// The number of finished units.
    package var done: Int
    /// The number of units known so far, finished ones included. It may grow.
    package var found: Int
    /// The plural name of a unit, such as "pages".
    package var unit: String
    /// A few words besides the numbers, such as "3 broken".
    package var note: String?

    /// Creates a progress from its parts; `done` and `found` are numbers of units.
    public init(done: Int, found: Int, unit: String, note: String? = nil) {
        self.done = done
        self.found = found
        self.unit = unit
        self.note = note
    }
}
