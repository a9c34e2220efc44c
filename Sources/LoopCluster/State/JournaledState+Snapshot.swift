import CBOR
package import LoopCore
import LoopWire

/// The whole journaled state as one document: a `SnapshotHeader`, then this body.
///
/// | bytes | part |
/// |---|---|
/// | 8 + n | the encoded state |
/// | 8 | time i64, milliseconds since 1970 |
/// | 4 + 16 each | the newest epochs: number u64, nonce u64; the present one last |
/// | 4 + (4 + n) each | the names of all feedbacks, by number |
/// | 4 | how many effects started at this seq u32 |
/// | 4 + … | the memories of queries, by feedback number: number u32, a `QueryMemory` |
/// | 4 + … | live effects, by effect: effect, version u64, group (flag, 4 + n), request (4 + n), status u8 (1 open, 2 completed, 3 parked and 4 + n message; 128 is added if an attempt was granted, 64 if one may still run), floor, failures u32, retry (flag, time i64, wait u64) |
/// | 8 + 4 + … | the next session u64; sessions, by number: session u64, peer, whether it is its peer's newest u8, watermark u64, notable outcomes as in an acknowledgement |
/// | 8 + 4 + … | how many entries were set aside u64; those that still are, by id: id u64, time i64, session u64, number u64, effect (flag, 16), attempt, phase u8, crashes u32, bytes (4 + n) |
/// | 4 + 16 each | sessions without a record in the present epoch, by number: session u64, idle since i64 |
/// | 4 + 8 each | sessions with an entry that belonged to no effect, by number: session u64 |
/// | 4 + 40 each | sessions that belong to a key, by number: session u64, the key's 32 bytes |
/// | 4 + … | sessions that keep answers, by number: session u64, their answers as in an acknowledgement |
/// | 4 + 30 each | the status of schedules, by number: feedback u32, next i64, last (flag, i64), whether it is paused u8, plan u64; from format 6 on |
/// | 4 + 41 each | live effects that are in a trace, by effect: effect, trace context (25); in format 7 |
///
/// Equal states give equal bytes; only the notable outcomes and the answers may differ, because forgetting them is not journaled.
extension JournaledState {
    /// The whole state as one document, from which `init(restoring:)` continues.
    /// - Throws: `SnapshotError.notTakenOver` or `SnapshotError.unencodable`.
    package func snapshot() throws(SnapshotError) -> [UInt8] {
        guard foreign == nil else { throw .notTakenOver }
        return try SnapshotHeader(
            loop: loop.name, history: history, position: position, seq: seq, fingerprint: loop.fingerprint.value,
            schema: loop.schema, initial: loop.initialHash,
            parts: !traces.isEmpty ? .traces : !schedules.isEmpty ? .schedules : .least
        ).document(bodyBytes: digestedBytes) { (body) throws(SnapshotError) in
            do {
                try loopState.withEncodedState { state in
                    body.u64(UInt64(state.count))
                    body.reserve(state.count + state.count / 8)
                    body.append(lent: state)
                }
            } catch {
                throw .unencodable("the state: \(error)")
            }
            body.u64(UInt64(bitPattern: time.milliseconds))
            writeEpochs(to: &body)
            writeFeedbacks(to: &body)
            do {
                try writeMemories(to: &body)
            } catch {
                throw .unencodable("what a feedback remembers: \(error)")
            }
            writeEffects(to: &body)
            writeSessions(to: &body, withNotable: true)
            writeQuarantine(to: &body)
            writeIdleTimes(to: &body)
            writeSenders(to: &body)
            writeOwners(to: &body)
            writeAnswers(to: &body)
            if !schedules.isEmpty || !traces.isEmpty { writeSchedules(to: &body) }
            if !traces.isEmpty { writeTraces(to: &body) }
        }
    }

    /// Continues from a snapshot. If another definition of this loop made it, that one's effects stay as they are until this
    /// one takes over, by its definition record.
    /// - Parameter ignoresArguments: whether the snapshot may be of a run with other arguments.
    /// - Throws: `SnapshotError` if the bytes are not what was written, or are of another loop or run, or of a schema that
    ///   cannot be migrated. It never traps, whatever the bytes are.
    package init(
        restoring document: [UInt8], definition: some LoopDefinition, coder: any ValueCoder,
        ignoresArguments: Bool = false
    ) throws(SnapshotError) {
        let (header, body) = try SnapshotHeader.read(document)
        self.init(definition: definition, coder: coder, history: header.history)
        guard header.loop == loop.name else { throw .otherLoop(snapshot: header.loop, binary: loop.name) }
        var reader = ByteReader(body)
        try restoreState(header, from: &reader)
        if header.schema == loop.schema, header.initial != loop.initialHash, !ignoresArguments {
            throw .otherArguments(OtherArguments(journal: header.initial, binary: loop.initialHash))
        }
        self.ignoresArguments = ignoresArguments
        position = header.position
        seq = header.seq
        let memories: [UInt32: QueryMemory]
        do {
            memories = try readParts(from: &reader, header)
            try reader.end()
        } catch {
            throw .corrupt("\(error)")
        }
        // A journal never reaches such numbers, and counting on from them would overflow.
        guard hasReachableNumbers else {
            throw .corrupt("its numbers are too large")
        }
        guard hasGivenNumbers else {
            throw .corrupt("the number of an epoch, a session or a quarantined event is still to be given, or is none")
        }
        guard hasOrderedOutcomes else { throw .corrupt("the outcomes of a session are not in order") }
        let remembered = memories.flatMap { number, memory in memory.effects.map { (number, $0) } }
        // Each effect has one key of one feedback. Otherwise it would be cancelled with one key, and continue for another.
        guard remembered.count == effects.count, remembered.allSatisfy({ $0 == $1.feedback }),
            Set(remembered.map { $1 }) == Set(effects.keys)
        else {
            throw .corrupt("its live effects are not those that its queries remember")
        }
        guard effects.keys.allSatisfy({ $0.seq < seq || ($0.seq == seq && $0.index < startsCount) }) else {
            throw .corrupt("one of its effects has an ID that is still to be given")
        }
        // Feedbacks with another form or other types under the same fingerprint also make another definition.
        let isOwn = header.fingerprint == loop.fingerprint.value
        foreign = isOwn && (try? self.loopState.restore(memories)) != nil ? nil : memories
    }

    /// Reads the state in the present schema, or migrates it from an older one.
    private mutating func restoreState(
        _ header: SnapshotHeader, from reader: inout ByteReader
    ) throws(SnapshotError) {
        let bytes: [UInt8]
        do {
            bytes = Array(try reader.bytes(Int(clamping: try reader.u64())))
            time = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
        } catch {
            throw .corrupt("\(error)")
        }
        if header.schema > loop.schema {
            throw .schemaTooNew(snapshot: header.schema, binary: Int(clamping: loop.schema))
        }
        if header.schema < loop.oldestSchema {
            throw .schemaTooOld(
                snapshot: header.schema, oldest: Int(clamping: loop.oldestSchema), binary: Int(clamping: loop.schema))
        }
        digestedBytes = bytes.count
        do {
            try loopState.restoreState(bytes, from: older(header.schema), at: time)
        } catch {
            throw .unreadableState(seq: header.seq, schema: header.schema, reason: "\(error)")
        }
    }

    /// A schema, or nil if it is the present one.
    func older(_ schema: UInt64) -> UInt64? { schema == loop.schema ? nil : schema }

    private mutating func readParts(
        from reader: inout ByteReader, _ header: SnapshotHeader
    ) throws(WireError) -> [UInt32: QueryMemory] {
        try readEpochs(from: &reader)
        let names = try readFeedbacks(from: &reader)
        table = FeedbackTable(names: names, declared: loop.feedbacks)
        loopState.beginQueries(table.numbers)
        journaledDefinition = DefinitionRecord(
            fingerprint: header.fingerprint, schema: header.schema, initial: header.initial, feedbacks: names)
        let memories = try readMemories(from: &reader)
        try readEffects(from: &reader)
        try readSessions(from: &reader)
        try readQuarantine(from: &reader)
        try readIdleTimes(from: &reader)
        try readSenders(from: &reader)
        try readOwners(from: &reader)
        try readAnswers(from: &reader)
        if header.parts >= .schedules { try readSchedules(from: &reader) }
        if header.parts >= .traces { try readTraces(from: &reader) }
        return memories
    }
}

/// Digests, which two processes compare to see that they have equal states.
extension JournaledState {
    /// A hash of the state, the live effects, the sessions and everything else that the journal determines. All processes that
    /// applied the same records get the same hash.
    /// - Returns: the hash, and how many bytes were hashed.
    package func digest() -> (hash: UInt64, bytes: Int) {
        // A state that cannot be encoded counts as empty.
        var state = (hash: StableHash.fnv1a([]), bytes: 0)
        try? loopState.withEncodedState { state = (StableHash.fnv1a($0), $0.count) }
        var writer = ByteWriter()
        writer.u64(seq.value)
        writer.u64(UInt64(bitPattern: time.milliseconds))
        writeEpochs(to: &writer)
        writeFeedbacks(to: &writer)
        writeEffects(to: &writer)
        writeSessions(to: &writer, withNotable: false)
        writeQuarantine(to: &writer)
        // The digests of journals without keys do not change.
        if sessions.contains(where: { $0.value.owner != nil }) { writeOwners(to: &writer) }
        if !schedules.isEmpty { writeSchedules(to: &writer) }
        return (StableHash.fnv1a(writer.bytes, seed: state.hash), state.bytes + writer.count)
    }

    /// Whether journaled digests are of this definition. They are not if another one's events were applied since the newest
    /// snapshot.
    var isComparable: Bool { foreign == nil && journaledDefinition?.fingerprint == loop.fingerprint.value }

    /// Compares with a journaled digest, if it is of this definition.
    mutating func compare(_ hash: UInt64, at seq: Seq) throws {
        guard isComparable else { return }
        let (found, bytes) = digest()
        digestedBytes = bytes
        guard found == hash else { throw ReplayDifference(seq: seq, journaled: hash, replayed: found) }
    }

    /// A copy for another thread to hash or encode. It lacks what only applying records needs, so that the next event does not
    /// have to copy that.
    var resting: JournaledState {
        var copy = self
        copy.note = nil
        copy.changes = []
        copy.live = []
        copy.loopState = loopState.resting
        return copy
    }

    /// The names of the parts in which two states of one loop differ; empty if they are equal. What senders have not yet
    /// confirmed is not compared, because forgetting it is not journaled.
    package func differences(from other: JournaledState) throws -> [String] {
        var names: [String] = []
        func compare(_ name: String, _ write: (JournaledState, inout ByteWriter) throws -> Void) rethrows {
            var mine = ByteWriter()
            var theirs = ByteWriter()
            try write(self, &mine)
            try write(other, &theirs)
            if mine != theirs { names.append(name) }
        }
        compare("seq") { $1.u64($0.seq.value) }
        try compare("state") { $1.append(bytes: try $0.loopState.encodedState()) }
        compare("effects") { $0.writeEffects(to: &$1) }
        try compare("what queries remember") { try $0.writeMemories(to: &$1) }
        compare("sessions") { $0.writeSessions(to: &$1, withNotable: false) }
        compare("idle times of sessions") { $0.writeIdleTimes(to: &$1) }
        compare("owners of sessions") { $0.writeOwners(to: &$1) }
        compare("time") { $1.u64(UInt64(bitPattern: $0.time.milliseconds)) }
        compare("epochs") { $0.writeEpochs(to: &$1) }
        compare("feedbacks") { $0.writeFeedbacks(to: &$1) }
        compare("quarantine") { $0.writeQuarantine(to: &$1) }
        compare("schedules") { $0.writeSchedules(to: &$1) }
        compare("traces of effects") { $0.writeTraces(to: &$1) }
        return names
    }
}
