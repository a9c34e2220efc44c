import LoopCluster
import LoopCore
import LoopWire

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
