import LoopCluster
import LoopCore
import LoopWire

/// The loop that the accepted events make: the definition's `reduce` and queries over the journal's events, in this process. It is
/// written from the semantics of loops, independently of the machines.
struct LoopModel<Work: Workload>: Sendable {
    typealias State = Work.Definition.State

    private let work: Work
    private(set) var chronicle: Chronicle<Work.Definition>
    private var evaluator: Evaluator<State, Work.Definition.Event>
    private var changes: [EffectChange] = []
    /// The effects that the state requests.
    private(set) var live: Set<EffectID> = []
    /// The timers that the state requests and that have neither fired nor were set aside.
    private(set) var timers: [EffectID: Timer] = [:]
    private let feedbacks: [Feedback<State, Work.Definition.Event>]

    struct Timer: Sendable {
        let time: WallTime
        let request: any Sendable
    }

    init(_ work: Work, history: History = .none) {
        self.work = work
        chronicle = Chronicle(work.definition, history: history)
        feedbacks = work.definition.allFeedbacks
        evaluator = Evaluator(feedbacks: feedbacks, coder: work.coder)
    }

    var state: State { chronicle.state }
    var seq: Seq { chronicle.seq }
    /// The outcome of the loop, or nil while it runs.
    private(set) var outcome: Outcome?

    /// A journal begins.
    mutating func begin(_ history: History) throws(Violation) {
        self = LoopModel(work, history: history)
        evaluator.advance(state: state, event: nil, seq: .initial, into: &changes)
        takeChanges()
        outcome = work.definition.outcome(of: state)
        try work.judge(state, at: seq)
    }

    mutating func follow(_ record: Record) throws(Violation) {
        switch record {
        case .event(let record): try follow(record)
        case .historyBegun(let begun, _): chronicle.begin(begun)
        case .quarantined(let record): if record.isLast, let effect = record.effect { timers[effect] = nil }
        case .attemptEnded(let end): if end.next == .parked { timers[end.effect] = nil }
        case .refused, .completed, .skipped, .granted, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun,
            .definition, .stateHash, .stateMarked, .markHash, .operatorAction, .scheduled:
            break
        }
    }

    private mutating func follow(_ record: EventRecord) throws(Violation) {
        guard let event = try? work.coder.decode(Work.Definition.Event.self, from: Array(record.bytes)) else {
            throw Violation(.nothingTwice, "event \(record.seq) cannot be read")
        }
        chronicle.append(record, event)
        if record.isOfTimer, let effect = record.effect { timers[effect] = nil }
        evaluator.advance(state: state, event: event, seq: seq, into: &changes)
        if !changes.isEmpty { takeChanges() }
        outcome = work.definition.outcome(of: state)
        try work.judge(state, at: seq)
    }

    private mutating func takeChanges() {
        for change in changes {
            switch change {
            case .start(let id, let request):
                live.insert(id)
                if let timer = feedbacks[Int(id.feedback)].timer {
                    timers[id] = Timer(time: timer.time(request), request: request)
                }
            case .update: break
            case .cancel(let id):
                live.remove(id)
                timers[id] = nil
            }
        }
        changes.removeAll(keepingCapacity: true)
    }

    /// The event that a timer sends.
    func event(of timer: EffectID) -> [UInt8]? {
        guard let request = timers[timer]?.request,
            let event = feedbacks[Int(timer.feedback)].timer?.event(request)
        else { return nil }
        return try? work.coder.encode(event)
    }
}

/// The states that the accepted events of one journal make, at every seq. Only some states are stored. Those between are computed
/// again on request.
struct Chronicle<Definition: LoopDefinition>: Sendable {
    typealias State = Definition.State

    private struct Entry: Sendable {
        let record: EventRecord
        let event: Definition.Event
        let transition: Transition
    }

    private static var interval: Int { 32 }

    private let definition: Definition
    /// The histories of this journal, in order.
    private(set) var histories: [History]
    /// The newest state.
    private(set) var state: State
    private var entries: [Entry] = []
    /// The stored states, at 0, `interval`, and so on.
    private var kept: [State]

    init(_ definition: Definition, history: History) {
        self.definition = definition
        histories = [history]
        state = definition.initial
        kept = [state]
    }

    var seq: Seq { Seq(UInt64(entries.count)) }

    /// Another history begins with the present state.
    mutating func begin(_ history: History) { histories.append(history) }

    mutating func append(_ record: EventRecord, _ event: Definition.Event) {
        let transition = Transition(
            seq: record.seq, time: record.time, seed: histories[histories.count - 1].value)
        definition.reduce(into: &state, event, transition)
        entries.append(Entry(record: record, event: event, transition: transition))
        if entries.count % Self.interval == 0 { kept.append(state) }
    }

    /// The state at a seq, or nil if there was none.
    func state(at seq: Seq) -> State? {
        guard seq.value <= UInt64(entries.count) else { return nil }
        let count = Int(seq.value)
        if count == entries.count { return state }
        var state = kept[count / Self.interval]
        for entry in entries[(count - count % Self.interval)..<count] {
            definition.reduce(into: &state, entry.event, entry.transition)
        }
        return state
    }

    /// The record of the event that led to a seq, or nil if there is none.
    func record(at seq: Seq) -> EventRecord? {
        1...UInt64(max(1, entries.count)) ~= seq.value && !entries.isEmpty ? entries[Int(seq.value) - 1].record : nil
    }
}
