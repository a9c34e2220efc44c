import CBOR
import LoopWire

/// Answers to events whose senders have asked. They are made when the records are applied, live and at replay alike. (Protocol,
/// section 2.)
extension JournaledState {
    /// The schema of the journal's events, or nil if it is the present one.
    var schemaOfEvents: UInt64? {
        let schema = journaledDefinition?.schema
        return schema == loop.schema ? nil : schema
    }

    /// The definition's answer to an event that has just been applied.
    func answer(to record: EventRecord) -> EntryAnswer {
        loopState.answer(to: record.bytes, from: schemaOfEvents, bytesMax: Wire.answerBytesMax, note)
    }

    /// Keeps an answer until its sender confirms it.
    mutating func keep(_ answer: EntryAnswer, of record: EventRecord) {
        guard let index = sessions.index(forKey: record.session) else { return }
        let before = sessions[at: index].answers.byteCount
        sessions[at: index].answers.keep(NumberedAnswer(number: record.number, answer: answer))
        answersBytes += sessions[at: index].answers.byteCount - before
        if answersBytes > answersBytesMax { dropMostAnswers() }
    }

    /// Whether a session keeps too many answers. Then it must confirm some before it may ask again.
    func keepsTooManyAnswers(of session: SessionID) -> Bool {
        guard let index = sessions.index(forKey: session) else { return false }
        return sessions[at: index].answers.byteCount >= KeptAnswers.bytesMax
    }

    /// Drops all answers of the session that keeps the most, so that sessions that keep few are not harmed.
    private mutating func dropMostAnswers() {
        var most: (place: Int, bytes: Int)?
        for (place, _) in sessions.places where sessions[at: place].answers.byteCount > most?.bytes ?? 0 {
            most = (place, sessions[at: place].answers.byteCount)
        }
        guard let most else { return }
        sessions[at: most.place].answers = KeptAnswers()
        answersBytes -= most.bytes
    }

    // MARK: Snapshots

    /// Writes the answers of the sessions that keep some.
    func writeAnswers(to writer: inout ByteWriter) {
        let kept = sessions.filter { !$0.value.answers.isEmpty }.sorted { $0.key < $1.key }
        writer.u32(UInt32(kept.count))
        for (id, session) in kept {
            writer.u64(id.value)
            writer.answers(session.answers.items)
        }
    }

    mutating func readAnswers(from reader: inout ByteReader) throws(WireError) {
        for _ in 0..<(try reader.count(bytesEach: 12)) {
            let id = SessionID(try reader.u64())
            let items = try reader.answers()
            guard let index = sessions.index(forKey: id) else {
                throw .malformed(what: "answers of no session", offset: reader.position)
            }
            for item in items { sessions[at: index].answers.keep(item) }
            answersBytes += sessions[at: index].answers.byteCount
        }
    }
}
