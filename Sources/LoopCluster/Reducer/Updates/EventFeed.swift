import LoopCore
import LoopWire

/// The transitions, for observers that follow the events and for people that watch them. (Protocol, section 8.)
struct EventFeed: Sendable {
    /// Whether observers with this definition follow the events.
    private var hasEvents = false
    /// Whether tools follow the transitions.
    private var hasTransitions = false
    /// Whether transitions are noted as they happen.
    private(set) var keepsNotes = false
    /// The transitions of this turn.
    private var notes: [TransitionNote] = []
    /// Until then, transitions are kept although no observer follows the events, because the last one may come back soon.
    private var ringEnds = MonotonicTime.zero
    /// The newest transitions that were published for observers.
    private var ring = TransitionRing()
    /// The newest hash that was published for observers.
    private var hash: (seq: Seq, value: UInt64)?
    private var hashedAt = Seq.initial

    /// Takes the subscriptions, as of this turn.
    mutating func follow(_ new: Subscriptions, from seq: Seq, at now: MonotonicTime) {
        if hasEvents && !new.hasEvents { ringEnds = now + .seconds(10) }
        if !hasEvents && new.hasEvents { hashedAt = seq }
        (hasEvents, hasTransitions) = (new.hasEvents, new.hasTransitions)
        keepsNotes = hasTransitions || keepsRing(at: now)
    }

    private func keepsRing(at now: MonotonicTime) -> Bool { hasEvents || now < ringEnds }

    /// Notes the transition of an event that was applied.
    mutating func note(_ record: EventRecord) {
        notes.append(
            TransitionNote(
                seq: record.seq, time: record.time, session: record.session, effect: record.effect,
                event: Array(record.bytes)))
    }

    /// Publishes this turn's transitions.
    /// - Parameter sharers: how many streams share the budget for hashes.
    mutating func publish(
        _ encodings: inout StateEncodings, sharers: Int, _ journaled: JournaledState, _ turn: inout TurnOutput,
        _ context: TurnContext
    ) {
        guard !notes.isEmpty else { return }
        if hasTransitions { publish(notes, on: .transitions(journaled.loop.id), &turn) }
        if keepsRing(at: context.now.monotonic) {
            ring.append(notes, bytesMax: context.configuration.transitionBytesMax)
        } else {
            ring.removeAll()
            keepsNotes = hasTransitions
        }
        if hasEvents {
            publish(notes, on: journaled.eventTopic, &turn)
            if encodings.isHashDue(since: hashedAt, of: nil, sharers: sharers, journaled),
                let value = encodings.hash(nil, journaled)
            {
                hash = (journaled.seq, value)
                hashedAt = journaled.seq
                turn.publish(.stateHash(journaled.seq, value), on: journaled.eventTopic)
            }
        }
        notes.removeAll(keepingCapacity: true)
    }

    private func publish(_ notes: [TransitionNote], on topic: Topic, _ turn: inout TurnOutput) {
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
    }

    /// Publishes the newest hash again with a tick, for observers that have missed it. If the loop has come to rest, it
    /// publishes the hash of the present state.
    /// - Parameter isSmall: whether the state may be hashed although no hash is due.
    mutating func publishHash(
        _ encodings: inout StateEncodings, isSmall: Bool, _ journaled: JournaledState,
        _ turn: inout TurnOutput
    ) {
        guard hasEvents, notes.isEmpty else { return }
        if hash?.seq != journaled.seq, isSmall, let value = encodings.hash(nil, journaled) {
            hash = (journaled.seq, value)
            hashedAt = journaled.seq
        }
        if let hash, hash.seq == journaled.seq {
            turn.publish(.stateHash(hash.seq, hash.value), on: journaled.eventTopic)
        }
    }

    /// The transitions that an observer has missed, in one message; empty if they are no longer kept.
    func transitions(after seq: Seq) -> [TransitionNote] {
        Array(ring.notes(after: seq, bytesMax: Wire.messageBytesMax / 2))
    }

    /// Forgets the transitions, because another history has begun.
    mutating func forget() { ring.removeAll() }
}

extension JournaledState {
    fileprivate var eventTopic: Topic { .events(loop.id, fingerprint: loop.fingerprint.value) }
}

/// The newest transitions, as far as they fit, for observers of the events that have missed some.
struct TransitionRing: Sendable {
    private var notes: [TransitionNote] = []
    /// The index of the oldest that is kept.
    private var first = 0
    private(set) var bytes = 0

    /// - Parameter bytesMax: how many bytes are kept.
    mutating func append(_ new: [TransitionNote], bytesMax: Int) {
        // Seqs in the ring are consecutive, so that transitions before a gap are of no use.
        if let last = notes.last, let next = new.first, next.seq != last.seq.next { removeAll() }
        notes += new
        for note in new { bytes += note.byteCount }
        while bytes > bytesMax, first < notes.count {
            bytes -= notes[first].byteCount
            first += 1
        }
        if first > 1024, first > notes.count / 2 {
            notes.removeFirst(first)
            first = 0
        }
    }

    mutating func removeAll() { self = TransitionRing() }

    /// The transitions after a seq, the oldest first; empty if the next one is no longer kept.
    /// - Parameter bytesMax: how many bytes to return; at least one transition if there is one.
    func notes(after seq: Seq, bytesMax: Int) -> ArraySlice<TransitionNote> {
        guard first < notes.count, seq >= Seq(notes[first].seq.value &- 1), seq < notes[notes.count - 1].seq else {
            return []
        }
        let begin = first + Int(seq.value + 1 - notes[first].seq.value)
        var (end, taken) = (begin, 0)
        while end < notes.count, end == begin || taken + notes[end].byteCount <= bytesMax {
            taken += notes[end].byteCount
            end += 1
        }
        return notes[begin..<end]
    }
}

extension TransitionNote {
    /// The largest number of bytes that it takes on the wire.
    var byteCount: Int { event.count + 45 }
}
