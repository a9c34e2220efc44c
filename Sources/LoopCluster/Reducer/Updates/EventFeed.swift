import LoopCore
import LoopWire

/// The transitions of a turn, for people that follow them. (Protocol, section 8.)
struct EventFeed: Sendable {
    private var notes: [TransitionNote] = []

    /// Notes the transition of an event that was applied.
    mutating func note(_ record: EventRecord) {
        notes.append(
            TransitionNote(
                seq: record.seq, time: record.time, session: record.session, effect: record.effect,
                event: Array(record.bytes)))
    }

    /// Publishes this turn's transitions.
    mutating func publish(_ journaled: JournaledState, _ turn: inout TurnOutput) {
        guard !notes.isEmpty else { return }
        let topic = Topic.transitions(journaled.loop.id)
        var chunk: [TransitionNote] = []
        var bytes = 0
        for note in notes {
            if bytes + note.byteCount > Wire.messageBytesMax / 2, !chunk.isEmpty {
                turn.publish(.transitions(chunk), on: topic)
                chunk = []
                bytes = 0
            }
            chunk.append(note)
            bytes += note.byteCount
        }
        turn.publish(.transitions(chunk), on: topic)
        notes.removeAll(keepingCapacity: true)
    }
}

extension TransitionNote {
    /// The largest number of bytes that it takes on the wire.
    fileprivate var byteCount: Int { event.count + 45 }
}
