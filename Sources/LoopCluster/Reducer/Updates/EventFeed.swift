import LoopCore
import LoopWire

/// The transitions, for observers that follow the events and for people that look at them. (Protocol, section 8.)
struct EventFeed: Sendable {
    /// Whether observers with this definition follow the events.
    private var hasEvents = false
    /// Whether tools look at the transitions.
    private var hasTransitions = false
    /// Whether transitions are noted as they happen.
    private(set) var keepsNotes = false
    /// This turn's.
    private var notes: [TransitionNote] = []
    /// Until then transitions are kept although no observer follows the events: the last one may be back in a moment.
    private var ringEnds = MonotonicTime.zero
    /// The newest transitions that were published for observers.
    private var ring = TransitionRing()
    /// The newest hash that was published for them, and the seq at which one was last made.
    private var hash: (seq: Seq, value: UInt64)?
    private var hashedAt = Seq.initial

    /// Takes notice of the subscriptions, as of this turn.
    mutating func follow(_ new: Subscriptions, from seq: Seq, at now: MonotonicTime) {
        if hasEvents && !new.hasEvents { ringEnds = now + .seconds(10) }
        if !hasEvents && new.hasEvents { hashedAt = seq }
        (hasEvents, hasTransitions) = (new.hasEvents, new.hasTransitions)
        keepsNotes = hasTransitions || keepsRing(at: now)
    }

    private func keepsRing(at now: MonotonicTime) -> Bool { hasEvents || now < ringEnds }

    /// An event was applied.
    mutating func note(_ record: EventRecord) {
        notes.append(
            TransitionNote(
                seq: record.seq, time: record.time, session: record.session, effect: record.effect,
                event: Array(record.bytes)))
    }

    /// Publishes this turn's transitions.
    /// - Parameter sharers: how many share the budget for hashes.
    mutating func publish(
        _ encodings: inout StateEncodings, sharers: Int, _ journaled: JournaledCore, _ turn: inout TurnOutput,
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

    /// With a tick: the newest hash once more, for observers that have missed it; and where a loop has come to rest, that of its
    /// state.
    /// - Parameter isSmall: whether the state may be hashed although no hash is due.
    mutating func publishHash(
        _ encodings: inout StateEncodings, isSmall: Bool, _ journaled: JournaledCore,
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

    /// What an observer of the events has missed, in one message; nothing where it is no longer at hand.
    func transitions(after seq: Seq) -> [TransitionNote] {
        Array(ring.notes(after: seq, bytesMax: Wire.messageBytesMax / 2))
    }

    /// Another history has begun.
    mutating func forget() { ring.removeAll() }
}

extension JournaledCore {
    fileprivate var eventTopic: Topic { .events(loop.id, fingerprint: loop.fingerprint.value) }
}
