import LoopCluster
import LoopCore
import LoopWire

/// Makes the simulated process end in the middle of a reduction. Nothing can stop the machine there, so the switch stores the crash
/// note of that moment. Everything that the machine does afterwards is discarded with it.
///
/// It is unchecked because a definition, which has it, must be sendable. It belongs to one cluster, and only this cluster's thread
/// uses it.
final class TrapSwitch<Event>: @unchecked Sendable {
    /// Whether this build of the loop cannot reduce poison.
    var isArmed = true
    /// Whether the process ends in the reduction of the next event, whatever it is.
    var endsAtNext = false
    /// The event in whose reduction it ended.
    private(set) var sprung: (event: Event, isItsFault: Bool)? { didSet { hasSprung = sprung != nil } }
    private(set) var hasSprung = false

    private let isPoison: (Event) -> Bool
    /// Whether chance ends the process in no event while there are suspects, because two such ends would set an event aside.
    private let sparesSuspects: Bool
    /// The note of this cluster's reducer, as one process leaves it to the next.
    let note = CrashNote()
    /// The content of the note at the moment of the end.
    private var kept: [UInt8] = []

    init(sparesSuspects: Bool, isPoison: @escaping (Event) -> Bool) {
        self.sparesSuspects = sparesSuspects
        self.isPoison = isPoison
    }

    func reduces(_ event: Event) {
        guard !hasSprung, isArmed || endsAtNext else { return }
        let isItsFault = isArmed && isPoison(event)
        guard isItsFault || endsAtNext else { return }
        if !isItsFault, sparesSuspects, !note.suspects.isEmpty { return }
        sprung = (event, isItsFault)
        kept = note.bytes
    }

    /// What the note of the moment of the end shows.
    func finding(_ history: History) -> CrashFinding {
        let copy = CrashNote()
        copy.bytes = kept
        return copy.begin(history: history, executable: 0, thread: 1)
    }

    /// The process has ended, and the note gets its content of that moment.
    /// - Parameter signal: the signal that a signal handler notes, or 0 for none.
    func end(signal: UInt64) {
        if hasSprung {
            note.bytes = kept
            note.fault(signal: signal, thread: 1)
        }
        sprung = nil
        endsAtNext = false
    }

    /// Clears the note, because it is worthless for a new journal.
    func clear() { note.bytes = [UInt8](repeating: 0, count: CrashNote.byteCount) }
}

/// A definition as the simulated reducer runs it: the process may end in each of its reductions.
struct TrappedLoop<Base: LoopDefinition>: LoopDefinition {
    static var name: String { Base.name }
    static var schema: Int { Base.schema }
    static var oldestSchema: Int { Base.oldestSchema }

    let base: Base
    /// The switch, or nil in a process that only reads.
    let trap: TrapSwitch<Base.Event>?

    var initial: Base.State { base.initial }

    func reduce(into state: inout Base.State, _ event: Base.Event, _ transition: Transition) {
        trap?.reduces(event)
        base.reduce(into: &state, event, transition)
    }

    var feedbacks: [Feedback<Base.State, Base.Event>] { base.feedbacks }

    var sections: [StateSection<Base.State>] { base.sections }

    func outcome(of state: Base.State) -> Outcome? { base.outcome(of: state) }

    func progress(of state: Base.State) -> Progress? { base.progress(of: state) }

    func answer(to event: Base.Event, in state: Base.State) -> Base.Answer? {
        base.answer(to: event, in: state)
    }

    func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> Base.State {
        try base.migrateState(old, from: schema, at: time)
    }

    func migrateEvent(_ old: Encoded, from schema: Int) throws -> Base.Event {
        try base.migrateEvent(old, from: schema)
    }
}
